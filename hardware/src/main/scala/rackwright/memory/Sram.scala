package rackwright.memory

import chisel3._
import sourcecode.Name

/** A memory with the ports that a macro has: one to write, one to read (1R1W). Synthesis decides by its size whether it
  * becomes a macro or flops.
  *
  * A word requested in one cycle is available in the next. The result of a read of a word that is written in the same
  * cycle is undefined ([[WriteFirstMemory]] defines it). A second port is refused when the unit is elaborated.
  */
final class Sram[T <: Data] private (name: String, cells: SyncReadMem[T]) {
  private val readPort = new OnePort(s"$name is read")
  private val writePort = new OnePort(s"$name is written")

  /** The word at `address`, in the next cycle; any value if `enable` is low. */
  def read(address: UInt, enable: Bool): T = readPort.take(cells.read(address, enable))

  /** Writes `word`, under the conditions around the call. */
  def write(address: UInt, word: T): Unit = writePort.take(cells.write(address, word))

  /** Writes the elements of `word` whose bit of `mask` is set. */
  def write(address: UInt, word: T, mask: Seq[Bool])(implicit isVec: T <:< Vec[_]): Unit =
    writePort.take(cells.write(address, word, mask))
}

object Sram {

  /** A memory of `words` words, named after the value that holds it. */
  def apply[T <: Data](words: Int, word: T)(implicit name: Name): Sram[T] =
    new Sram(name.value, SyncReadMem(words, word).suggestName(name.value))
}

/** A port that may be used in one place of the source. */
private class OnePort(use: String) {
  private var taken = false

  def take[R](port: => R): R = {
    require(!taken, s"$use in two places, and a memory has one port for that")
    taken = true
    port
  }
}
