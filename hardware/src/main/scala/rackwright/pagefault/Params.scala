package rackwright.pagefault

import chisel3.util.{isPow2, log2Ceil}

import rackwright.port.MemoryPortParams

/** The parameters of a page-fault unit.
  *
  * @param faults
  *   maximum number of pages being fetched.
  * @param evictions
  *   pages that may leave at once.
  * @param queueEntries
  *   entries of the queues of free frames and of evictions.
  * @param outstanding
  *   beats outstanding on each of the ports for pages: 256 of 16 bytes are a page, so that a single page never arrives
  *   too fast for memory.
  */
case class Params(faults: Int = 4, evictions: Int = 8, queueEntries: Int = 64, outstanding: Int = 256) {
  private def check(name: String, value: Int, least: Int, most: Int): Unit = require(
    isPow2(value) && value >= least && value <= most,
    s"$name is a power of two from $least to $most, not $value"
  )
  check("faults", faults, 2, 8)
  check("evictions", evictions, 2, 16)
  check("queue-entries", queueEntries, 8, 256)
  check("outstanding", outstanding, 16, 256)

  /** Shape of the ports for pages. */
  val pages: MemoryPortParams = MemoryPortParams(Sizes.beatBytes, log2Ceil(outstanding))

  /** Shape of the port for entries of page tables: a tag for each slot. */
  val entries: MemoryPortParams = MemoryPortParams(Sizes.beatBytes, log2Ceil(faults))

  /** Shape of the port for records. */
  val records: MemoryPortParams = MemoryPortParams(Sizes.beatBytes, 1)
}

/** Sizes of the objects that a page-fault unit handles. */
object Sizes {
  val beatBytes: Int = 16

  /** Bytes of the network in a cycle: two flits of the wire, at half of its clock. */
  val flitBytes: Int = 16

  /** Physical addresses: 40 bits, 1 TiB. */
  val addressBits: Int = 40
  val pageBits: Int = 12
  val frameBits: Int = addressBits - pageBits

  /** Of an entry of a page table, in 8 bytes. */
  val entryPlaceBits: Int = addressBits - 3

  /** Of a record, which is a beat. */
  val recordPlaceBits: Int = addressBits - 4
  val pageBeats: Int = (1 << pageBits) / beatBytes
  val blades: Int = 4
  val hardwareAddressBits: Int = 48
}
