package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** The layout of a map's nodes, from a serialize list (README.md). */
class MapNodes extends Bundle {

  /** Offset of the pointer to the next node. */
  val next = UInt(MapNodes.offsetBits.W)
  val keyKind = UInt(5.W)

  /** Table of the nodes; 0 if only the library can serialize the map. */
  val table = UInt(DescriptorTable.addressBits.W)
}

/** The layout of [[MapNodes]]. */
object MapNodes {
  val offsetBits: Int = 14

  def fromWord(word: UInt): MapNodes = {
    val nodes = Wire(new MapNodes)
    nodes.next := word(63, 53) << 3
    nodes.keyKind := word(52, 48)
    nodes.table := word(47, 0)
    nodes
  }
}

/** Sorts the elements of a map by their keys, and returns them in descending order.
  *
  * @param entries
  *   capacity in elements, shared by nested maps.
  */
class SerializerMap(entries: Int) extends Module {

  /** A map to sort. */
  val start = IO(Flipped(Valid(new MapStart)))

  /** It is sorted, or has failed. */
  val done = IO(Valid(UInt(Status.width.W)))
  val count = IO(Output(UInt(log2Ceil(entries + 1).W)))

  /** The last remaining element of the innermost map. */
  val last = IO(Decoupled(UInt(DescriptorTable.addressBits.W)))

  /** Discard all maps. */
  val clear = IO(Input(Bool()))
  val read = IO(new WordRead)

  private val elements = Module(new MapElements)
  private val keys = Module(new MapKeys)
  private val sorter = Module(new MapSorter(entries))
  private val reads = Module(new WordReads(3))
  private val map = RegEnable(start.bits, start.valid)
  private val busy = RegInit(false.B)
  private val failures = Seq(sorter.failure, keys.failure, elements.failure).map { failure =>
    val seen = RegNext(failure)
    when(clear) { seen.valid := false.B }
    seen
  }
  private val failed = failures.map(_.valid).reduce(_ || _)
  private val stop = clear || failed

  elements.start := start
  elements.clear := stop
  keys.kind := map.nodes.keyKind
  keys.inEntries := map.inEntries
  keys.clear := stop
  keys.address <> elements.element
  sorter.begin := start.valid
  sorter.clear := clear
  sorter.insert <> keys.element
  last <> sorter.last
  count := sorter.count

  reads.clear := stop
  reads.readers(0) <> sorter.read
  reads.readers(1) <> keys.read
  reads.readers(2) <> elements.read
  read <> reads.memory

  private val ordered = elements.finished && keys.idle && sorter.idle
  done.valid := busy && (failed || ordered)
  done.bits := Mux(failed, MuxCase(Status.ok, failures.map(failure => failure.valid -> failure.bits)), Status.ok)
  busy := !clear && (start.valid || (busy && !done.valid))
}
