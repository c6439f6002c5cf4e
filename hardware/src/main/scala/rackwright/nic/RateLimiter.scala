package rackwright.nic

import chisel3._
import chisel3.util._

/** How many flits may be sent: `flits` per `period` cycles, and `burst` at once after a pause. */
class RateSetting extends Bundle {
  val flits = UInt(16.W)
  val period = UInt(16.W)
  val burst = UInt(16.W)
}

/** A token bucket (Karandikar 2024, section 2.3): a flit takes a token, `flits` tokens come every `period` cycles.
  *
  * The period begins with the first flit taken from a full bucket, and nothing runs while the bucket is full: so the
  * clock of an idle unit may stop, and the flits of a burst leave at the same distances whenever it begins.
  */
class RateLimiter extends Module {
  val setting = IO(Input(new RateSetting))

  /** The setting has just been written: no flit passes, and the next cycle starts with a full bucket. */
  val restart = IO(Input(Bool()))
  val in = IO(Flipped(Decoupled(new Flit)))
  val out = IO(Decoupled(new Flit))

  /** The bucket is full and stays so. */
  val idle = IO(Output(Bool()))

  private val unlimited = setting.flits === 0.U || setting.period === 0.U
  private val size = Mux(setting.burst > setting.flits, setting.burst, setting.flits)
  // Counted from full to empty, so that 0 is a full bucket of any size.
  private val spent = RegInit(0.U(16.W))
  private val elapsed = RegInit(0.U(16.W))

  private val open = !restart && (unlimited || spent =/= size)
  out.valid := in.valid && open
  in.ready := out.ready && open
  out.bits := in.bits
  idle := spent === 0.U && !restart

  // No more than `size` are spent, which is within the width.
  private val afterFlit = spent + out.fire
  private val refill = elapsed + 1.U === setting.period
  when(restart || unlimited) {
    spent := 0.U
    elapsed := 0.U
  }.elsewhen(afterFlit =/= 0.U) {
    val refilled = Mux(afterFlit > setting.flits, afterFlit - setting.flits, 0.U)
    spent := Mux(refill, refilled, afterFlit)
    // A bucket that has become full ends the period; the next flit begins one.
    elapsed := Mux(refill, 0.U, elapsed + 1.U)
  }
}
