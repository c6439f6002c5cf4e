package rackwright.allocate

import chisel3._
import chisel3.util._

/** The grain before each block of a heap. README.md has the layout.
  *
  * The half with the size and the half with the neighbour are written separately, so that neither has to be read before
  * a change of the other.
  */
class Header extends Bundle {
  val size = UInt(Grain.bits.W)
  val free = Bool()

  /** Free for the program, and stored on chip for the next call. */
  val kept = Bool()

  /** No block follows: not stored in memory, because it follows from position and size. */
  val last = Bool()

  /** The block before it. */
  val previous = UInt(Grain.bits.W)
}

/** Converts headers. */
object Header {
  private val seal = 0x5a11c0deL

  /** The required upper half of the header of `place`, so that other bytes are not mistaken for one. */
  private def sealOf(place: UInt): UInt = seal.U(32.W) ^ place

  def low(size: UInt, free: Bool, kept: Bool): UInt = Cat(0.U((64 - Grain.bits - 2).W), kept, free, size)

  def high(place: UInt, previous: UInt): UInt = Cat(sealOf(place), 0.U((32 - Grain.bits).W), previous)

  /** That of a block at `place` in a heap of `total` grains. */
  def of(grain: UInt, place: UInt, total: UInt): Header = {
    val header = Wire(new Header)
    header.size := grain(Grain.bits - 1, 0)
    header.free := grain(Grain.bits)
    header.kept := grain(Grain.bits + 1)
    header.last := place +& header.size === total
    header.previous := grain(64 + Grain.bits - 1, 64)
    header
  }

  /** Whether `grain` is the header of a block at `place`. */
  def sealedAs(grain: UInt, place: UInt): Bool = grain(127, 96) === sealOf(place)
}

/** A place in a free list, if there is one. */
class Neighbour extends Bundle {
  val exists = Bool()
  val place = UInt(Grain.bits.W)

  def half: UInt = Cat(0.U((64 - Grain.bits - 1).W), exists, place)
}

/** The first grain of a free block after its header: the free blocks of its list on either side. */
class Links extends Bundle {
  val next = new Neighbour
  val previous = new Neighbour
}

/** Converts links. */
object Links {
  private def neighbour(half: UInt): Neighbour = {
    val found = Wire(new Neighbour)
    found.exists := half(Grain.bits)
    found.place := half(Grain.bits - 1, 0)
    found
  }

  def of(grain: UInt): Links = {
    val links = Wire(new Links)
    links.next := neighbour(grain(63, 0))
    links.previous := neighbour(grain(127, 64))
    links
  }
}

/** A block as memory holds it. */
class Block extends Bundle {
  val place = UInt(Grain.bits.W)
  val header = new Header
  val links = new Links

  /** Its header is valid, and memory has refused no access. */
  val sound = Bool()
}

/** A write to a block: one or both halves of its header or of its links. */
class BlockWrite extends Bundle {
  val place = UInt(Grain.bits.W)
  val links = Bool()
  val low = Valid(UInt(64.W))
  val high = Valid(UInt(64.W))
}
