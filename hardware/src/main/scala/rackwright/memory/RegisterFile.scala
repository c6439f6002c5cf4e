package rackwright.memory

import chisel3._
import sourcecode.Name

/** A memory of flops, for few words, or if a word is needed in the cycle of its request. It has one port per call of
  * `read` and `write`: each of them is a multiplexer of all words, or a decoder of its own.
  */
final class RegisterFile[T <: Data] private (cells: Mem[T]) {

  /** The word at `address`, in the same cycle. */
  def read(address: UInt): T = cells.read(address)

  /** Writes `word`, under the conditions around the call. */
  def write(address: UInt, word: T): Unit = cells.write(address, word)
}

object RegisterFile {

  /** A memory of `words` words, named after the value that holds it. */
  def apply[T <: Data](words: Int, word: T)(implicit name: Name): RegisterFile[T] =
    new RegisterFile(Mem(words, word).suggestName(name.value))
}
