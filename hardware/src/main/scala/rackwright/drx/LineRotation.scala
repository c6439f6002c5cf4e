package rackwright.drx

import chisel3._
import chisel3.util._

/** Turns a line left by a number of bytes, first by blocks, then within them. The blocks of all lines are one module,
  * which synthesis maps once.
  */
class LineRotation(bytes: Int) extends Module {
  val line = IO(Input(UInt((8 * bytes).W)))
  val by = IO(Input(UInt(log2Ceil(bytes).W)))

  /** The line in which byte i is at i + `by`, modulo its size. */
  val turned = IO(Output(UInt((8 * bytes).W)))

  private val size = LineRotation.blockBytes.min(bytes)
  private val count = bytes / size
  private def before(block: Int, by: Int): Int = (block - by + count) % count

  private val blocks = LineRotation.blocks(line, bytes)
  private val chosen = Seq.tabulate(count) { i =>
    val choice = Module(new BlockChoice(size, count))
    choice.blocks := VecInit.tabulate(count)(j => blocks(before(i, j)))
    choice.by := by >> log2Ceil(size)
    choice.chosen
  }
  turned := VecInit.tabulate(count) { i =>
    val shift = Module(new BlockShift(size))
    shift.block := chosen(i)
    shift.below := chosen(before(i, 1))
    shift.by := by(log2Ceil(size) - 1, 0)
    shift.shifted
  }.asUInt
}

object LineRotation {

  /** The largest size of a block. */
  val blockBytes: Int = 64

  /** The blocks of a line, the first one lowest. */
  def blocks(line: UInt, bytes: Int): Seq[UInt] = {
    val bits = 8 * blockBytes.min(bytes)
    Seq.tabulate(8 * bytes / bits)(i => line(bits * (i + 1) - 1, bits * i))
  }
}

/** One of several blocks. */
class BlockChoice(size: Int, count: Int) extends Module {
  val blocks = IO(Input(Vec(count, UInt((8 * size).W))))
  val by = IO(Input(UInt(log2Ceil(count).W)))
  val chosen = IO(Output(UInt((8 * size).W)))

  chosen := (if (count == 1) blocks.head else blocks(by))
}

/** A block moved up by less than its size, with bytes of the one below. */
class BlockShift(size: Int) extends Module {
  val block = IO(Input(UInt((8 * size).W)))
  val below = IO(Input(UInt((8 * size).W)))
  val by = IO(Input(UInt(log2Ceil(size).W)))
  val shifted = IO(Output(UInt((8 * size).W)))

  shifted := (Cat(block, below) << Cat(by, 0.U(3.W)))(16 * size - 1, 8 * size)
}
