package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.protobuf.map.MapNodes
import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable}

/** A row of a descriptor table: its header, or two entries of its serialize list. */
class SerializerRow extends Bundle {
  val data = UInt((8 * SerializerTable.rowBytes).W)
  val fault = Bool()

  /** The 64-bit word at that place. */
  def word(index: Int): UInt = data(64 * index + 63, 64 * index)

  /** The first or the second entry. */
  def entry(index: Int): SerializerEntry = {
    val entry = Wire(new SerializerEntry)
    entry.field := DescriptorTable.entry(data(256 * index + 127, 256 * index))
    entry.tag := word(4 * index + 2)(31, 0)
    entry.nodes := MapNodes.fromWord(word(4 * index + 3))
    entry
  }
}

/** An entry of a serialize list. */
class SerializerEntry extends Bundle {
  val field = new DescriptorEntry

  /** Field number and wire type of what is written. */
  val tag = UInt(32.W)

  /** Of a map: what has to be known of its nodes. */
  val nodes = new MapNodes
}

/** A row to look up. */
class SerializerRowRequest extends Bundle {

  /** A multiple of 64. */
  val address = UInt(DescriptorTable.addressBits.W)

  /** The row below will be wanted next; its address. */
  val continues = Bool()
  val below = UInt(DescriptorTable.addressBits.W)
}

/** Keeps rows of 64 bytes of descriptor tables on chip: one cache per beat of a row, all of which are asked together.
  *
  * @param port
  *   shape of the memory port of one cache; its tags are the rows.
  */
class SerializerTable(port: MemoryPortParams) extends Module {
  private val banks = SerializerTable.banks(port)

  /** Forget all rows. */
  val clear = IO(Input(Bool()))

  /** The row wanted next. */
  val request = IO(Flipped(Decoupled(new SerializerRowRequest)))

  /** Rows in the order of the requests. */
  val response = IO(Decoupled(new SerializerRow))

  /** Drop the requests that have not been answered. */
  val cancel = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(SerializerTable.port(port)))

  /** No request is unanswered and no read under way. */
  val idle = IO(Output(Bool()))

  private val caches =
    Seq.tabulate(banks)(bank => Module(new SerializerCache(port, SerializerTable.asked, banks, bank)))
  private val reads = Module(new SerializerReads(port, SerializerTable.port(port), banks))
  memory <> reads.memory

  private val ready = caches.map(_.request.ready).reduce(_ && _)
  private val valid = caches.map(_.response.valid).reduce(_ && _)
  request.ready := ready
  response.valid := valid
  response.bits.data := Cat(caches.map(_.response.bits.data).reverse)
  response.bits.fault := caches.map(_.response.bits.fault).reduce(_ || _)
  for ((cache, index) <- caches.zipWithIndex) {
    // Tables don't change but by command.
    cache.now := 0.U
    cache.since := 0.U
    cache.age := false.B
    cache.clear := clear
    cache.cancel := cancel
    cache.request.valid := request.valid && ready
    cache.request.bits := request.bits.address >> log2Ceil(SerializerTable.rowBytes)
    cache.response.ready := response.ready && valid
    // Lists are walked from their end to their start.
    cache.prefetch.valid := request.fire && request.bits.continues
    cache.prefetch.bits.number := request.bits.below >> log2Ceil(SerializerTable.rowBytes)
    cache.prefetch.bits.left := 1.U
    cache.prefetch.bits.downward := true.B
    cache.prefetch.bits.since := 0.U
    reads.ports(index) <> cache.memory
  }
  idle := caches.map(_.idle).reduce(_ && _)
}

/** Constants of a [[SerializerTable]]. */
object SerializerTable {
  val rowBytes: Int = 64

  /** Rows that may be asked for and not taken. */
  val asked: Int = 4

  /** log2 of the bytes of an entry of a serialize list. */
  val log2EntryBytes: Int = 5

  /** Beats of a row. */
  def banks(port: MemoryPortParams): Int = rowBytes / port.bytes

  /** Shape of the memory port of a table, given that of one cache: so many beats are read at the same time. */
  def port(port: MemoryPortParams): MemoryPortParams = port.copy(tagBits = log2Ceil(16))
}
