package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** Lets matches start earlier than they were found, and marks those worth taking.
  *
  * A position takes over the match of one of the next two positions if the bytes before that match are equal too and it
  * becomes longer than the position's own. A match is not worth taking if the next position has one that saves at least
  * two bytes more. A group waits here for the next one, whose first positions matter to both decisions.
  */
class MatchRefine extends Module {
  val found = IO(Flipped(Decoupled(new FoundGroup)))
  val choices = IO(Decoupled(new ChoiceGroup))

  private val present = RegInit(false.B)
  private val group = Reg(new FoundGroup)

  // First stage: matches moved back. The next group has to be there.
  private val moved = RegInit(false.B)
  private val movedGroup = Reg(new FoundGroup)
  private val refined = Reg(Vec(lanes + 1, new Candidate))

  // Second stage: which are worth taking.
  private val chosen = RegInit(false.B)
  private val chosenGroup = Reg(new ChoiceGroup)
  choices.valid := chosen
  choices.bits := chosenGroup
  private val choose = !chosen || choices.ready
  private val move = !moved || choose

  private val complete = present && (found.valid || group.last)
  private val step = complete && move
  found.ready := !present || step
  when(found.fire) { group := found.bits }
  when(found.fire || step) { present := found.fire }
  when(move) { moved := complete }
  when(choose) { chosen := moved }

  private val none = 0.U.asTypeOf(new Candidate)
  private val following = found.bits.lanes.take(backBytes + 1).map(lane => Mux(group.last, none, lane))
  private val matches = group.lanes ++ following
  when(step) {
    movedGroup := group
    for (i <- 0 to lanes) refined(i) := refine(matches(i), matches(i + 1), matches(i + 2))
  }

  private val gains = refined.map(gain)
  when(choose && moved) {
    chosenGroup.literals := movedGroup.literals
    chosenGroup.count := movedGroup.count
    chosenGroup.probe := movedGroup.probe
    chosenGroup.last := movedGroup.last
    for ((choice, lane) <- chosenGroup.lanes.zipWithIndex) {
      val better = gains(lane + 1) > gains(lane) +& 1.U
      choice.length := refined(lane).length
      choice.distance := refined(lane).distance
      choice.take := refined(lane).length =/= 0.U && !better
      choice.gainful := gains(lane) > 1.U
    }
  }

  /** The longest of a position's own match and those of the next two positions moved back to it. */
  private def refine(own: Candidate, next: Candidate, second: Candidate): Candidate = {
    val byOne = Mux(next.length =/= 0.U && next.back >= 1.U, next.length + 1.U, 0.U)
    val byTwo = Mux(second.length =/= 0.U && second.back >= 2.U, second.length + 2.U, 0.U)
    val result = WireDefault(own)
    when(byTwo > own.length && byTwo > byOne) {
      result.length := byTwo
      result.distance := second.distance
    }.elsewhen(byOne > own.length) {
      result.length := byOne
      result.distance := next.distance
    }
    result
  }

  /** Bytes saved by a match: its length less two bytes for a short and near one, else three; 0 for none. */
  private def gain(found: Candidate): UInt = {
    val short = found.length < 12.U && found.distance < 2048.U
    Mux(found.length === 0.U, 0.U, found.length - Mux(short, 2.U, 3.U))
  }
}
