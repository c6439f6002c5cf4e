package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A ring buffer with the input from which no block has been written yet; literals and stored blocks are read from it.
  *
  * Words are written in sequence; four bytes are read at any byte offset. Two memories with a width of four bytes hold
  * the even and the odd halves of words.
  *
  * @param bytes
  *   bytes kept: a power of two.
  */
class InputRing(bytes: Int) extends Module {
  private val lanes = DeflateCompressorParams.lanes
  require(lanes == 4, "a place and the three behind it are in two halves of words")
  private val placeBits = log2Ceil(bytes)
  private val rows = bytes / (2 * lanes)

  /** Up to eight bytes; eight in every word but the last. */
  val data = IO(Input(UInt((16 * lanes).W)))
  val count = IO(Input(UInt(4.W)))

  /** The ring has space for the next words. */
  val roomy = IO(Output(Bool()))

  /** Frees this many of the oldest bytes. */
  val release = IO(Flipped(Valid(UInt(placeBits.W))))

  /** A position in the ring; the four bytes from there on are valid three cycles later. */
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

  /** Bytes that may still arrive after the ring has signalled that it is full. */
  val reserve: Int = 64
}
