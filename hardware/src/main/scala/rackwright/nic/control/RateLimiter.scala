package rackwright.nic.control

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Frame}

/** The limit of sent flits: `flits` per `period` cycles, and a burst of `burst` after a pause. */
class RateSetting extends Bundle {
  val flits = UInt(16.W)
  val period = UInt(16.W)
  val burst = UInt(16.W)
}

/** A token bucket (Karandikar 2024, section 2.3): a flit takes a token, and `flits` tokens are added every `period`
  * cycles.
  *
  * A token is for the number of bytes that the wire transfers in a cycle. A wide flit with more bytes takes two tokens:
  * it passes as soon as there is one, and a missing second one is owed.
  *
  * The period begins with the first flit taken from a full bucket, and no counter runs while the bucket is full: the
  * clock of an idle unit may therefore stop, and the flits of a burst leave at the same distances whenever it begins.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class RateLimiter(flitBytes: Int) extends Module {
  val setting = IO(Input(new RateSetting))

  /** The setting has just been written: no flit passes, and the next cycle starts with a full bucket. */
  val restart = IO(Input(Bool()))
  val in = IO(Flipped(Decoupled(new Flit(flitBytes))))
  val out = IO(Decoupled(new Flit(flitBytes)))

  /** The bucket is full and stays so. */
  val idle = IO(Output(Bool()))

  private val unlimited = setting.flits === 0.U || setting.period === 0.U
  private val size = Mux(setting.burst > setting.flits, setting.burst, setting.flits)
  private val isWide = flitBytes > Frame.flitBytes
  // Counted from full to empty, so that 0 is a full bucket of any size; one more bit if a token may be owed.
  private val spent = RegInit(0.U((if (isWide) 17 else 16).W))
  private val elapsed = RegInit(0.U(16.W))

  private def left: Bool = if (isWide) spent < size else spent =/= size
  private def taken: UInt =
    if (isWide) Mux(out.fire, Mux(in.bits.count > Frame.flitBytes.U, 2.U, 1.U), 0.U) else out.fire.asUInt

  private val open = !restart && (unlimited || left)
  out.valid := in.valid && open
  in.ready := out.ready && open
  out.bits := in.bits
  idle := spent === 0.U && !restart

  // No more than `size` are spent, and one that is owed.
  private val afterFlit = spent + taken
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
