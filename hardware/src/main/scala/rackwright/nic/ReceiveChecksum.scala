package rackwright.nic

import chisel3._
import chisel3.util._

/** Sums the bytes of received frames from a settable first one on. */
class ReceiveChecksum extends Module {
  val setting = IO(Input(new ReceiveChecksumSetting))

  /** Every flit, in the cycle in which it is taken. */
  val flit = IO(Flipped(Valid(new Flit)))

  /** The sum including the flit of this cycle; 0 when switched off. */
  val sum = IO(Output(UInt(16.W)))

  private val before = RegInit(0.U(16.W))
  private val position = RegInit(0.U(16.W))

  private val mask = ByteRange.from(setting.start, position) & Flit.firstBytes(flit.bits.count)
  private val odd = position(0) ^ setting.start(0)
  sum := Mux(setting.enable, InternetSum.extend(before, flit.bits.data, mask, odd), 0.U)
  when(flit.valid) {
    before := Mux(flit.bits.last, 0.U, sum)
    position := Mux(flit.bits.last, 0.U, position + flit.bits.count)
  }
}
