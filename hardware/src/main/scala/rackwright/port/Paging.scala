package rackwright.port

import chisel3.util._

/** The formats of Sv39 and Sv48 (privileged manual 20211203, sections 4.3 to 4.5). */
object Paging {
  val pageBits: Int = 12

  /** Bits of a number of a table's entry, and of the number of a virtual page in the larger of the formats. */
  val indexBits: Int = 9
  val levels: Int = 4
  val virtualPageBits: Int = levels * indexBits
  val physicalPageBits: Int = 44
  val levelBits: Int = log2Ceil(levels)

  /** Values of the field MODE of `satp`. */
  val bare: Int = 0
  val sv39: Int = 8
  val sv48: Int = 9

  /** Bytes of a table's entry, and of the beats in which tables are read. */
  val entryBytes: Int = 8
  val beatBytes: Int = 16
}
