package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Keeps the input that no block has been written of yet: literals and stored blocks are read from it.
  *
  * Words go in one after the other; four bytes are read from any place. Two memories of four bytes hold the even and
  * the odd half of words.
  *
  * @param bytes
  *   bytes kept: a power of two.
  */
class InputRing(bytes: Int) extends Module {
  private val lanes = DeflateCompressorParams.lanes
  require(lanes == 4, "a place and the three behind it are in two halves of words")
  private val placeBits = log2Ceil(bytes)
  private val rows = bytes / (2 * lanes)

  /** Up to eight bytes; eight, but for the last ones. */
  val data = IO(Input(UInt((16 * lanes).W)))
  val count = IO(Input(UInt(4.W)))

  /** There is room for the next words. */
  val roomy = IO(Output(Bool()))

  /** So many bytes are not needed any more, the oldest ones. */
  val release = IO(Flipped(Valid(UInt(placeBits.W))))

  /** A place in the ring, and the four bytes from there on three cycles later. */
  val place = IO(Flipped(Valid(UInt(placeBits.W))))
  val read = IO(Output(UInt((8 * lanes).W)))

  private val entering = RegNext(count, 0.U)
  private val writing = entering =/= 0.U
  private val word = RegNext(data)
  private val row = RegInit(0.U(log2Ceil(rows).W))
  private val held = RegInit(0.U((placeBits + 1).W))
  when(writing) { row := row + 1.U }
  held := held + entering - Mux(release.valid, release.bits, 0.U)
  roomy := RegNext(held <= (bytes - InputRing.reserve).U, false.B)

  private val half = place.bits >> log2Ceil(lanes)
  private val isOdd = half(0)
  private val halves = Seq.tabulate(2) { number =>
    val memory = Sram(rows, UInt((8 * lanes).W))
    when(writing) { memory.write(row, word(8 * lanes * (number + 1) - 1, 8 * lanes * number)) }
    val mine = (if (number == 0) (half + 1.U) >> 1 else half >> 1) (log2Ceil(rows) - 1, 0)
    RegNext(memory.read(mine, place.valid))
  }
  private val oddFirst = RegNext(RegNext(isOdd))
  private val offset = RegNext(RegNext(place.bits(log2Ceil(lanes) - 1, 0)))
  private val both = Mux(oddFirst, Cat(halves(0), halves(1)), Cat(halves(1), halves(0)))
  read := RegNext((both >> Cat(offset, 0.U(3.W)))(8 * lanes - 1, 0))
}

object InputRing {

  /** Bytes that may still come when there is no more room. */
  val reserve: Int = 64
}
