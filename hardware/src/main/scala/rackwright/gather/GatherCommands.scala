package rackwright.gather

import chisel3._

import rackwright.port.CommandList

/** The commands of the gather unit. */
object GatherCommands extends CommandList {
  val table = command(
    "table",
    0,
    rs1 = "where element 0 of the table is, a multiple of the bytes of an element",
    rs2 = "bytes of an element (1 to 32, a power of two) in bits 7 to 0, of an index (4 or 8) in bits 15 to 8"
  )
  val gather =
    command("gather", 1, rs1 = "where the indices are", rs2 = "how many; their elements are answered by next")
  val prefetch = command(
    "prefetch",
    2,
    rs1 = "where the indices are",
    rs2 = "how many; their elements are brought into the cache that harts share"
  )
  val next = command("next", 3, answer = "the next 8 bytes of the elements, or the next element if it has fewer")
  val stop = command("stop", 4, answer = "0, when all that was asked for is forgotten")
  val problem = command("problem", 5, answer = "why answers since the last question may be wrong: 0 if they are not")
}

/** The reason why elements are not those that the program expects. */
object Problem {
  val bits: Int = 2
  val none: UInt = 0.U(bits.W)

  /** Memory has refused an index or an element. */
  val accessFault: UInt = 1.U(bits.W)

  /** More was requested than there is. */
  val missing: UInt = 2.U(bits.W)

  /** A shape that there is not, or more sequences than may wait. */
  val unsupported: UInt = 3.U(bits.W)
}
