package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.{BitString, PackedWord}

/** Headers of blocks and of their sections (RFC 8878, sections 3.1.1.2 and 3.1.1.3). Combinational functions. */
object BlockHeads {

  /** Types of blocks and of literals sections: `same` is RLE, one repeated byte. */
  val raw: Int = 0
  val same: Int = 1
  val compressed: Int = 2

  /** Size of the header of a raw or RLE literals section with `count` literals. */
  def plainBytes(count: UInt): UInt = Mux(count < 32.U, 1.U, Mux(count < 4096.U, 2.U, 3.U(3.W)))

  /** That header. */
  def plain(kind: UInt, count: UInt): UInt = MuxLookup(plainBytes(count), Cat(count.pad(20), 3.U(2.W), kind(1, 0)))(
    Seq(
      1.U -> Cat(count(4, 0), 0.U(1.W), kind(1, 0)),
      2.U -> Cat(count.pad(12)(11, 0), 1.U(2.W), kind(1, 0))
    )
  )

  /** Size of the header of a compressed literals section with `count` literals, in one stream (up to 895 literals) or
    * four.
    */
  def codedBytes(count: UInt): UInt = Mux(count < 896.U, 3.U, Mux(count < (16384 - 128).U, 4.U, 5.U(3.W)))

  /** That header; its content has `bytes` bytes, which exceed the number of literals by fewer than 128. */
  def coded(count: UInt, four: Bool, bytes: UInt): UInt = {
    val compressed = BlockHeads.compressed.U(2.W)
    MuxLookup(codedBytes(count), Cat(bytes.pad(18)(17, 0), count.pad(18)(17, 0), 3.U(2.W), compressed))(
      Seq(
        3.U -> Cat(bytes.pad(10)(9, 0), count.pad(10)(9, 0), 0.U(1.W), four, compressed),
        4.U -> Cat(bytes.pad(14)(13, 0), count.pad(14)(13, 0), 2.U(2.W), compressed)
      )
    )
  }

  /** The header of a block of `size` bytes. */
  def block(last: Bool, kind: UInt, size: UInt): UInt = Cat(size.pad(21)(20, 0), kind(1, 0), last)

  /** The header of a block, followed in a compressed block by that of its literals section. */
  def word(block: UInt, literals: UInt, literalsBytes: UInt): PackedWord = {
    val result = Wire(new PackedWord)
    result.data := Cat(literals.pad(40)(39, 0), block.pad(24)(23, 0))
    result.count := literalsBytes +& 3.U
    result
  }

  /** The header of a sequences section with `count` sequences, at most 0x7eff, whose tables have the modes `modes`. */
  def sequences(count: UInt, modes: UInt): BitString = {
    val wide = count.pad(15)
    val long = wide >= 128.U
    val number = Mux(long, Cat(wide(7, 0), 1.U(1.W), wide(14, 8)), wide(7, 0))
    val numberBits = Mux(long, 16.U, 8.U(5.W))
    val none = count === 0.U
    val result = Wire(new BitString(SequenceEncoder.mostBits))
    result.value := number | (Mux(none, 0.U, modes) << numberBits)
    result.count := numberBits +& Mux(none, 0.U, 8.U)
    result
  }
}
