package rackwright.allocate

import rackwright.port.CommandList

/** The commands of the allocator. */
object AllocateCommands extends CommandList {
  val heap = command(
    "heap",
    0,
    rs1 = "where memory to allocate begins: a multiple of 16",
    rs2 = "its bytes: a multiple of 16, at least 32, less than 4 GiB; what was allocated before is forgotten",
    answer = "a status: ok, or unsupported if the memory can't be a heap"
  )
  val allocate = command("allocate", 1, rs1 = "bytes", answer = "the address of as many, a multiple of 16; or 0")
  val free = command("free", 2, rs1 = "what allocate answered, or 0")
  val trim = command("trim", 3, answer = "0, when all blocks that were kept have joined their free neighbours")
  val problem = command(
    "problem",
    4,
    answer = "the first call that could not be obeyed since the last answer: its kind in bits 7 to 0, 0 if there is " +
      "none; the address in the others"
  )
}

/** Why a call could not be obeyed. */
object Problem {
  import chisel3._

  val bits: Int = 3
  val none: UInt = 0.U(bits.W)

  /** No block of the heap begins there. */
  val foreign: UInt = 1.U(bits.W)

  /** The block is free already. */
  val twice: UInt = 2.U(bits.W)

  /** A header has been overwritten. */
  val broken: UInt = 3.U(bits.W)

  /** Memory has refused an access. */
  val accessFault: UInt = 4.U(bits.W)
}
