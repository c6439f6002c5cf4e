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

  /** The 64-bit word at this index. */
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

  /** Field number and wire type of the output. */
  val tag = UInt(32.W)

  /** For a map: the layout of its nodes. */
  val nodes = new MapNodes
}

/** A row to look up. */
class SerializerRowRequest extends Bundle {

  /** A multiple of 64. */
  val address = UInt(DescriptorTable.addressBits.W)

  /** The row below will be requested next; its address. */
  val continues = Bool()
  val below = UInt(DescriptorTable.addressBits.W)
}

/** A cache of rows of 64 bytes of descriptor tables: one cache for each beat of a row, which are looked up together.
  *
  * @param port
  *   parameters of the memory port of one cache; one tag for each row.
  */
class SerializerTable(port: MemoryPortParams) extends Module {
  private val banks = SerializerTable.banks(port)

  /** Invalidate all rows. */
  val clear = IO(Input(Bool()))

  /** The next row to look up. */
  val request = IO(Flipped(Decoupled(new SerializerRowRequest)))

  /** Rows in the order of the requests. */
  val response = IO(Decoupled(new SerializerRow))

  /** Cancel the requests that have not been answered. */
  val cancel = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(SerializerTable.port(port)))

  /** Every request has been answered, and no read is outstanding. */
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
    // Tables change only by command.
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

  /** Maximum number of rows that are requested and not consumed. */
  val asked: Int = 4

  /** log2 of the bytes of an entry of a serialize list. */
  val log2EntryBytes: Int = 5

  /** Number of beats of a row. */
  def banks(port: MemoryPortParams): Int = rowBytes / port.bytes

  /** Parameters of the memory port of a table, given those of one cache: the number of concurrent reads. */
  def port(port: MemoryPortParams): MemoryPortParams = port.copy(tagBits = log2Ceil(16))
}
