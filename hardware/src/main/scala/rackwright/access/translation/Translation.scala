package rackwright.access.translation

import chisel3._
import chisel3.util.Cat

import rackwright.port.{Paging, TranslationContext}

/** A leaf of the page tables: the address of a virtual page, and its permissions. */
class Translation extends Bundle {

  /** The virtual page; of a large one only the upper bits matter. */
  val page = UInt(Paging.virtualPageBits.W)

  /** The level of the tables that has the leaf; its page is 512 times as large for each. */
  val level = UInt(Paging.levelBits.W)
  val physical = UInt(Paging.physicalPageBits.W)
  val readable = Bool()

  /** Writable, and marked as written to. */
  val writable = Bool()
  val executable = Bool()
  val user = Bool()

  /** Bits of the number of a page that are its place within a page of this level. */
  private def within: UInt =
    VecInit(Seq.tabulate(Paging.levels)(l => ((BigInt(1) << (l * Paging.indexBits)) - 1).U(Paging.virtualPageBits.W)))(
      level
    )

  /** Whether it is about the virtual page `number`. */
  def concerns(number: UInt): Bool = ((page ^ number) & ~within) === 0.U

  /** The physical page of the virtual page `number`. */
  def place(number: UInt): UInt = (physical & ~within.pad(Paging.physicalPageBits)) | (number & within)

  /** Whether it allows an access in `context`. */
  def permits(context: TranslationContext, write: Bool): Bool = {
    val reachable = Mux(context.privilege === 0.U, user, !user || context.sum)
    reachable && Mux(write, writable, readable || (executable && context.mxr))
  }
}

/** The result of a walk. */
class WalkResult extends Bundle {

  /** There is a leaf. */
  val found = Bool()

  /** There is none, because memory refused to give an entry of the tables. */
  val refused = Bool()
  val translation = new Translation
}

/** An access that was not let through. */
class TranslationFault extends Bundle {

  /** The virtual address of its beat. */
  val address = UInt(64.W)
  val write = Bool()

  /** Because memory refused the read of a table entry, not because of its contents. */
  val refused = Bool()

  /** As software reads it. */
  def word: UInt = Cat(address(63, 3), refused, write, true.B)
}
