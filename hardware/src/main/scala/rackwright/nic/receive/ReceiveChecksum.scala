package rackwright.nic.receive

import chisel3._
import chisel3.util._

import rackwright.network.{ByteRange, Flit, InternetSum, Summed}
import rackwright.nic.port.ReceiveChecksumSetting

/** Sums the bytes of received frames from a settable first one on. Flits pass in four cycles.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class ReceiveChecksum(flitBytes: Int) extends Module {
  val setting = IO(Input(new ReceiveChecksumSetting))

  /** Every flit, in the order of the wire. */
  val flit = IO(Flipped(Decoupled(new Flit(flitBytes))))

  /** The same flits, each with the sum up to it; 0 when switched off. */
  val summed = IO(Decoupled(new Summed(new Flit(flitBytes))))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val sum = Module(new InternetSum(new Flit(flitBytes), flitBytes))
  private val first = RegInit(true.B)
  private val position = RegInit(0.U(16.W))

  sum.in.valid := flit.valid
  flit.ready := sum.in.ready
  sum.in.bits.data := flit.bits.data
  sum.in.bits.mask := ByteRange.from(setting.start, position, flitBytes) & Flit.firstBytes(flit.bits.count, flitBytes)
  sum.in.bits.odd := position(0) ^ setting.start(0)
  sum.in.bits.first := first
  sum.in.bits.initial := 0.U
  sum.in.bits.along := flit.bits
  when(flit.fire) {
    first := flit.bits.last
    position := Mux(flit.bits.last, 0.U, position + flit.bits.count)
  }

  summed <> sum.out
  when(!setting.enable) { summed.bits.sum := 0.U }
  idle := sum.idle
}
