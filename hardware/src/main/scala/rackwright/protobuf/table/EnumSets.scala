package rackwright.protobuf.table

import chisel3._
import chisel3.util._

/** A value to look up. */
class EnumSearch extends Bundle {

  /** Address of the set, as in word 1 of an entry. */
  val set = UInt(64.W)
  val value = UInt(64.W)
}

/** The result of a lookup. */
class EnumFound extends Bundle {
  val known = Bool()

  /** The set cannot be read. */
  val fault = Bool()
}

/** Looks up values in the sets of closed enums that are too wide for the bitmap of an entry.
  *
  * A set is a hash table of blocks of 64 values, 16 bytes each, with chaining. README.md has the layout. The latest
  * blocks are cached: a value in one of them is found in the next cycle.
  */
class EnumSets extends Module {
  import EnumSets._

  /** Start. */
  val start = IO(Flipped(Valid(new EnumSearch)))

  /** The lines of sets. */
  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))

  /** The result, until the next start. */
  val found = IO(Valid(new EnumFound))

  /** Abandon the lookup. */
  val clear = IO(Input(Bool()))

  /** Invalidate the cached blocks. */
  val flush = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val first = Reg(UInt(DescriptorTable.addressBits.W))
  private val index = Reg(UInt(linkBits.W))
  private val value = Reg(UInt(32.W))
  private val result = Reg(new EnumFound)

  private val blocks = Reg(Vec(keptBlocks, new KeptBlock))
  private val present = RegInit(VecInit.fill(keptBlocks)(false.B))
  private val oldest = RegInit(0.U(log2Ceil(keptBlocks).W))
  private val matches = Reg(Vec(keptBlocks, Bool()))
  private val isKept = state === State.asking && matches.reduce(_ || _)
  private val keptMap = Mux1H(matches, blocks.map(_.map))

  found.valid := state === State.found || isKept
  found.bits := result
  when(isKept) {
    found.bits.known := keptMap(value(blockBits - 1, 0))
    found.bits.fault := false.B
  }

  lookup.valid := state === State.asking && !isKept && !clear
  lookup.bits.address := first + (index << log2Ceil(DescriptorTable.lineBytes))
  lookup.bits.last := lookup.bits.address
  line.ready := state === State.waiting

  private val block = value >> blockBits
  private val isIt = line.bits.word1(blockNumberBits - 1, 0) === block
  private val link = line.bits.word1(linkBits + 31, 32)
  private val isOver = isIt || link === 0.U || line.bits.fault
  when(lookup.fire)(state := State.waiting)
  when(line.fire) {
    state := Mux(isOver, State.found, State.asking)
    index := link
    result.known := isIt && line.bits.word0(value(blockBits - 1, 0))
    result.fault := line.bits.fault
    matches.foreach(_ := false.B)
  }
  when(line.fire && isIt && !line.bits.fault) {
    blocks(oldest).first := first
    blocks(oldest).number := block
    blocks(oldest).map := line.bits.word0
    present(oldest) := true.B
    oldest := oldest + 1.U
  }
  when(start.valid) {
    val asked = Cat(start.bits.set(DescriptorTable.addressBits - 1, 4), 0.U(4.W))
    state := State.asking
    first := asked
    matches := blocks.zip(present).map { case (kept, isThere) =>
      isThere && kept.first === asked && kept.number === start.bits.value(31, blockBits)
    }
    index := placeOf(start.bits.value(31, blockBits)) & ((1.U << start.bits.set(3, 0)) - 1.U)
    value := start.bits.value
  }
  when(clear)(state := State.idle)
  when(flush)(present.foreach(_ := false.B))
}

/** Layout of sets. */
object EnumSets {

  /** log2 of the values in a block; width of a block's number, and of a line's number. */
  private val blockBits = 6
  private val blockNumberBits = 32 - blockBits
  private val linkBits = 16

  /** Number of cached blocks. */
  private val keptBlocks = 4

  private class KeptBlock extends Bundle {
    val first = UInt(DescriptorTable.addressBits.W)
    val number = UInt(blockNumberBits.W)
    val map = UInt((1 << blockBits).W)
  }

  /** The hash function of a block: consecutive blocks have different buckets. */
  private def placeOf(block: UInt): UInt = (block ^ (block >> 7) ^ (block >> 13))(linkBits - 2, 0)

  /** `asking` requests a line, `waiting` waits for it. */
  object State extends ChiselEnum {
    val idle, asking, waiting, found = Value
  }
}
