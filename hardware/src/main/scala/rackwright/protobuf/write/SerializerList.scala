package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable}

/** A position in a serialize list. */
class ListPosition extends Bundle {

  /** Address of the list, a multiple of 64. */
  val list = UInt(DescriptorTable.addressBits.W)

  /** Number of entries to examine: those before the last examined one. */
  val left = UInt(SerializerList.countBits.W)
}

/** What is known about the presence of the current message's fields. */
class KnownPresence extends Bundle {

  /** The hasbits `64 * part` to `64 * part + 63`. */
  val hasbits = Valid(UInt(64.W))
  val part = UInt(SerializerList.partBits.W)

  /** Number of the field that a oneof contains, and the offset of its case word in units of 4 bytes. */
  val holder = Valid(UInt(32.W))
  val oneof = UInt(16.W)

  /** The hasbit of the field is known, or it has none. */
  def knows(field: DescriptorEntry): Bool =
    !field.hasHasbit || (hasbits.valid && part === field.hasbit(15, 6))

  /** The field is known to be absent. */
  def lacks(entry: SerializerEntry): Bool = {
    val bit = (hasbits.bits >> entry.field.hasbit(5, 0))(0)
    val elsewhere = holder.valid && oneof === entry.field.oneof && holder.bits =/= (entry.tag >> 3)
    Mux(entry.field.hasHasbit, !bit, entry.field.inOneof && elsewhere)
  }
}

/** An entry, and the position in its list from which the walk continues. */
class ListedEntry extends Bundle {
  val entry = new SerializerEntry
  val left = UInt(SerializerList.countBits.W)
}

/** Walks a serialize list from its end to its start, and outputs the entries of fields that may be present.
  *
  * Rows are prefetched. Each is examined for one cycle, and stays in a register for one cycle per output entry, or for
  * one if both fields are absent.
  */
class SerializerList extends Module {
  import SerializerList.Row

  /** Start or continue at this position; the current walk is discarded. Requested rows must have been cancelled. */
  val start = IO(Flipped(Valid(new ListPosition)))

  /** Stop the walk. */
  val stop = IO(Input(Bool()))

  /** What is known about presence; entries are not examined before they may be `judged`. */
  val known = IO(Input(new KnownPresence))
  val judges = IO(Input(Bool()))

  /** The group of hasbits that is needed to continue. */
  val wanted = IO(Valid(UInt(SerializerList.partBits.W)))

  /** Fields that may be present. */
  val entry = IO(Decoupled(new ListedEntry))

  /** Address of the list. */
  val list = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Every entry has been output. */
  val finished = IO(Output(Bool()))

  /** A row could not be read. */
  val fault = IO(Output(Bool()))

  /** Rows of the list. */
  val request = IO(Decoupled(new SerializerRowRequest))
  val response = IO(Flipped(Decoupled(new SerializerRow)))

  // Rows to request.
  private val base = Reg(UInt(DescriptorTable.addressBits.W))
  private val place = RegInit(0.U(SerializerList.countBits.W))
  private val ask = Reg(UInt(DescriptorTable.addressBits.W))
  private val rows = RegInit(0.U(SerializerList.countBits.W))
  list := base
  request.valid := rows =/= 0.U && !stop
  request.bits.address := ask
  request.bits.continues := rows =/= 1.U
  request.bits.below := ask - SerializerTable.rowBytes.U
  when(request.fire) {
    ask := request.bits.below
    rows := rows - 1.U
  }

  // The current row, and what is known about its entries.
  private val held = RegInit(false.B)
  private val row = Reg(new Row)
  private val again = RegInit(false.B)
  private val fresh = Mux(again, row.entries, VecInit(response.bits.entry(0), response.bits.entry(1)))
  private val judged = fresh.map(entry => (known.knows(entry.field), known.lacks(entry)))

  // The second entry of a row is examined before the first.
  private val onSecond = !place(0)
  private val secondLacks = row.knows(1) && row.lacks(1)
  private val takesFirst = !onSecond || secondLacks
  private val knows = Mux(takesFirst, row.knows(0), row.knows(1))
  private val lacks = Mux(takesFirst, row.lacks(0), row.lacks(1))
  private val usable = held && !row.fault
  fault := held && row.fault

  // Only one group of hasbits is known at a time: an absent second entry is skipped before the group of the first one
  // is known.
  private val passes = usable && onSecond && secondLacks && !row.knows(0)
  wanted.valid := usable && !knows && !passes
  wanted.bits := Mux(takesFirst, row.entries(0), row.entries(1)).field.hasbit(15, 6)

  private val offered = Wire(Decoupled(new ListedEntry))
  private val mayGo = usable && !again && knows
  offered.valid := mayGo && !lacks
  offered.bits.entry := Mux(takesFirst, row.entries(0), row.entries(1))
  private val isOffered = mayGo && (lacks || offered.ready)
  private val leaves = isOffered && (takesFirst || (row.knows(0) && row.lacks(0)))
  private val behind = Mux(takesFirst, (place - 1.U) >> 1 << 1, place - 1.U)
  offered.bits.left := behind
  when(passes) { place := place - 1.U }
  when(isOffered) { place := Mux(leaves, (place - 1.U) >> 1 << 1, place - 1.U) }

  response.ready := judges && !again && (!held || leaves)
  held := response.fire || (held && !leaves)
  again := wanted.valid
  when(response.fire) {
    row.entries := fresh
    row.fault := response.bits.fault
  }
  when(response.fire || again) {
    row.knows := VecInit(judged.map(_._1))
    row.lacks := VecInit(judged.map(_._2))
  }

  private val waiting = Module(new Queue(new ListedEntry, 2, hasFlush = true))
  waiting.io.flush.get := start.valid || stop
  waiting.io.enq <> offered
  entry <> waiting.io.deq
  finished := place === 0.U && !waiting.io.deq.valid

  when(start.valid || stop) {
    held := false.B
    again := false.B
  }
  when(stop) {
    rows := 0.U
    place := 0.U
  }
  when(start.valid) {
    base := start.bits.list
    place := start.bits.left
    ask := start.bits.list + ((start.bits.left - 1.U) >> 1 << log2Ceil(SerializerTable.rowBytes))
    rows := (start.bits.left +& 1.U) >> 1
  }
}

/** Constants of a [[SerializerList]]. */
object SerializerList {

  /** A row of the list; for each entry, whether its presence is known, and whether it is absent. */
  private class Row extends Bundle {
    val entries = Vec(2, new SerializerEntry)
    val fault = Bool()
    val knows = Vec(2, Bool())
    val lacks = Vec(2, Bool())
  }

  /** Width of a number of entries. */
  val countBits: Int = log2Ceil(DescriptorTable.maximumEntries + 1)

  /** Width of the number of a group of 64 hasbits. */
  val partBits: Int = 10
}
