package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** The properties of one position for the selection. */
class MatchEntry extends Bundle {
  val distance = UInt(distanceBits.W)
  val length = UInt(foundBits.W)

  /** Position after the match, from the group's first one on. */
  val end = UInt((foundBits + 1).W)

  /** Another match begins in this group at or after that position; if not, whether the group's bytes end before it. */
  val again = Bool()
  val toEnd = Bool()

  /** Worth taking directly after a match. */
  val take = Bool()

  /** From here on, the first position whose match is worth taking even if it ends a run of literals. */
  val next = Valid(UInt(laneBits.W))
}

/** A group with all that choosing needs to know of its positions. */
class MatchTable extends Bundle {
  val literals = UInt((8 * EncoderParams.lanes).W)
  val count = UInt(4.W)
  val entries = Vec(EncoderParams.lanes, new MatchEntry)
  val probe = new ProbeResult
  val last = Bool()
}

/** Computes for every position of a group the result if the selection reaches it: the selection is then only a lookup.
  */
object MatchTable {

  /** The table of `group`. Pure logic. */
  def apply(group: ChoiceGroup): MatchTable = {
    val table = Wire(new MatchTable)
    table.literals := group.literals
    table.count := group.count
    table.probe := group.probe
    table.last := group.last
    val takes = (0 until lanes).map(i => group.lanes(i).take && group.count > i.U)
    val gains = (0 until lanes).map(i => takes(i) && group.lanes(i).gainful)
    for (i <- 0 until lanes) {
      val entry = table.entries(i)
      val choice = group.lanes(i)
      entry.distance := choice.distance
      entry.length := choice.length
      entry.end := choice.length +& i.U
      entry.again := (i until lanes).map(j => takes(j) && entry.end <= j.U).reduce(_ || _)
      entry.toEnd := group.count <= entry.end
      entry.take := takes(i)
      entry.next.valid := gains.drop(i).reduce(_ || _)
      entry.next.bits := PriorityMux(gains.drop(i), (i until lanes).map(_.U(laneBits.W)))
    }
    table
  }
}
