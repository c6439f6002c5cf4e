package rackwright.protobuf

import chisel3._
import chisel3.util._

/** Where in a serialize list a walk is. */
class ListPosition extends Bundle {

  /** Address of the list, a multiple of 64. */
  val list = UInt(DescriptorTable.addressBits.W)

  /** Entries that have not been looked at: those before the last one that has. */
  val left = UInt(SerializerList.countBits.W)
}

/** What is known about the presence of fields of the message at hand. */
class KnownPresence extends Bundle {

  /** The hasbits `64 * part` to `64 * part + 63`. */
  val hasbits = Valid(UInt(64.W))
  val part = UInt(SerializerList.partBits.W)

  /** Number of the field that a oneof holds, and the place of its case word in units of 4 bytes. */
  val holder = Valid(UInt(32.W))
  val oneof = UInt(16.W)

  /** The hasbit of the field is known, or it has none. */
  def knows(field: DescriptorEntry): Bool =
    !field.hasHasbit || (hasbits.valid && part === field.hasbit(15, 6))

  /** It is known that there is no such field. */
  def lacks(entry: SerializerEntry): Bool = {
    val bit = (hasbits.bits >> entry.field.hasbit(5, 0))(0)
    val elsewhere = holder.valid && oneof === entry.field.oneof && holder.bits =/= (entry.tag >> 3)
    Mux(entry.field.hasHasbit, !bit, entry.field.inOneof && elsewhere)
  }
}

/** Walks a serialize list from its end to its start and offers the entries of fields that may be present.
  *
  * A cycle for each entry offered, and for each two next to each other that are absent.
  */
class SerializerList extends Module {

  /** Begin or go on there; the walk at hand is forgotten. */
  val start = IO(Flipped(Valid(new ListPosition)))

  /** Leave the walk. */
  val stop = IO(Input(Bool()))

  /** What is known about presence. */
  val known = IO(Input(new KnownPresence))

  /** The part of the hasbits without which there is no going on. */
  val wanted = IO(Valid(UInt(SerializerList.partBits.W)))

  /** Fields that may be present. */
  val entry = IO(Decoupled(new SerializerEntry))

  /** Where the walk is, behind the entry that is offered. */
  val position = IO(Output(new ListPosition))

  /** All entries have been offered. */
  val finished = IO(Output(Bool()))

  /** A row could not be read. */
  val fault = IO(Output(Bool()))

  /** Rows of the list. */
  val request = IO(Decoupled(new SerializerRowRequest))
  val response = IO(Flipped(Decoupled(new SerializerRow)))

  private val place = RegInit(0.U.asTypeOf(new ListPosition))
  private val asked = RegInit(false.B)
  position := place
  finished := place.left === 0.U

  private val usable = asked && response.valid && !response.bits.fault
  fault := asked && response.valid && response.bits.fault
  private val (first, second) = (response.bits.entry(0), response.bits.entry(1))
  // The second entry of a row is looked at before the first.
  private val onSecond = !place.left(0)
  private val secondLacks = known.knows(second.field) && known.lacks(second)
  private val firstLacks = known.knows(first.field) && known.lacks(first)
  private val takesFirst = !onSecond || secondLacks
  private val chosen = Mux(takesFirst, first, second)
  private val knows = known.knows(chosen.field)
  private val lacks = Mux(takesFirst, firstLacks, secondLacks)

  // Only one part of the hasbits is known at a time: an absent second entry is left behind before the first one's is.
  private val passes = usable && onSecond && secondLacks && !knows
  wanted.valid := usable && !knows && !passes
  wanted.bits := chosen.field.hasbit(15, 6)
  entry.valid := usable && knows && !lacks
  entry.bits := chosen

  private val steps = usable && knows && (lacks || entry.ready)
  private val leaves = steps && (takesFirst || firstLacks)
  private val row = (place.left - 1.U) >> 1
  private val firstRow = (start.bits.left - 1.U) >> 1
  private val next = Mux(start.valid, firstRow, Mux(leaves, row - 1.U, row))
  response.ready := leaves
  private val more = Mux(leaves, row =/= 0.U, !asked && place.left =/= 0.U)
  request.valid := Mux(start.valid, start.bits.left =/= 0.U, !stop && more)
  request.bits.address := Mux(start.valid, start.bits.list, place.list) + (next << log2Ceil(SerializerTable.rowBytes))
  request.bits.continues := next =/= 0.U

  when(request.fire) {
    asked := true.B
  }.elsewhen(leaves) {
    asked := false.B
  }
  when(passes) { place.left := place.left - 1.U }
  when(steps) { place.left := Mux(leaves, row << 1, place.left - 1.U) }
  when(start.valid) {
    place := start.bits
    asked := request.fire
  }.elsewhen(stop) {
    place.left := 0.U
    asked := false.B
  }
}

/** Constants of a [[SerializerList]]. */
object SerializerList {

  /** Bits of a number of entries. */
  val countBits: Int = log2Ceil(DescriptorTable.maximumEntries + 1)

  /** Bits of the number of a group of 64 hasbits. */
  val partBits: Int = 10
}
