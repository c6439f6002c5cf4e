package rackwright.crossbar

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit
import rackwright.stream.SkidBuffer

/** A flit, and the port by which it will leave, one-hot. */
class RoutedFlit(ports: Int) extends Bundle {
  val flit = new StreamFlit(Crossbar.flitBytes)
  val to = UInt(ports.W)
}

/** The input of one port: it reads the destination of a packet in its first flit, and writes the source there. A packet
  * to a port that does not exist is accepted, dropped and reported.
  */
class CrossbarInput(ports: Int) extends Module {

  /** The number of the port. */
  val here = IO(Input(UInt(Crossbar.numberBits.W)))
  val in = IO(Flipped(Decoupled(new StreamFlit(Crossbar.flitBytes))))
  val out = IO(Decoupled(new RoutedFlit(ports)))

  /** The last flit of a packet without a destination is dropped in this cycle. */
  val refused = IO(Output(Bool()))

  private val first = RegInit(true.B)
  private val kept = Reg(UInt(ports.W))
  private val named = in.bits.data(Crossbar.numberBits - 1, 0)
  private val to = Mux(first, VecInit.tabulate(ports)(port => named === port.U).asUInt, kept)
  private val refuses = to === 0.U
  private val rest = in.bits.data >> 2 * Crossbar.numberBits

  private val buffer = Module(new SkidBuffer(new RoutedFlit(ports)))
  buffer.clear := false.B
  buffer.in.valid := in.valid && !refuses
  buffer.in.bits.flit := in.bits
  when(first) { buffer.in.bits.flit.data := rest ## here ## named }
  buffer.in.bits.to := to
  // A flit that is dropped waits for room too, so that `ready` depends on no data.
  in.ready := buffer.in.ready
  when(in.fire) {
    first := in.bits.last
    kept := to
  }
  refused := in.fire && refuses && in.bits.last
  out <> buffer.out
}
