package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** Writes ranges of the host's memory, or of another card's window, with the accompanying data. */
class DmaWriter extends Module {
  val range = IO(Flipped(Decoupled(new DmaRequest)))
  val settings = IO(Input(new FunctionSettings))

  /** Sixteen bytes of the ranges, in order. */
  val data = IO(Flipped(Decoupled(UInt((8 * Params.beatBytes).W))))
  val packet = IO(Decoupled(new PacketBeat))

  /** The last packet of a range leaves. */
  val done = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val splitter = Module(new RangeSplitter(Params.payloadBytes))
  splitter.range <> range
  splitter.size := settings.payload
  private val part = SkidBuffer(splitter.part)

  /** Beats of the payload that are still to leave; 0 before the header. */
  private val left = RegInit(0.U(RangePart.beatBits.W))
  private val ends = Reg(Bool())
  private val within = left =/= 0.U
  private val words = Cat(part.bits.beats, 0.U(2.W))
  private val header = Header.request(write = true, settings.id, 0.U, part.bits.address, words)
  packet.valid := Mux(within, data.valid, part.valid && settings.masterEnabled)
  packet.bits.data := Mux(within, data.bits, Header.toBeat(header))
  packet.bits.keep := Fill(Params.beatBytes, 1.U(1.W))
  packet.bits.last := left === 1.U
  packet.bits.credits := part.bits.beats
  data.ready := within && packet.ready
  part.ready := !within && packet.fire
  when(packet.fire) {
    left := Mux(within, left - 1.U, part.bits.beats)
    when(!within) { ends := part.bits.last }
  }
  done := packet.fire && left === 1.U && ends
  idle := splitter.idle && !part.valid && !within
}
