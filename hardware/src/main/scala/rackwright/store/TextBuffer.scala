package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.stream.{ByteStream, Lines}

/** The next bytes of a text in registers. What is taken of them is known late; it has no path to the stream. */
class TextBuffer extends Module {
  import TextBuffer.word

  val clear = IO(Input(Bool()))
  val stream = IO(Flipped(new ByteStream(Grain.bytes)))

  /** The next bytes, and how many of them there are, up to two words. */
  val data = IO(Output(UInt((8 * word).W)))
  val count = IO(Output(UInt(5.W)))

  /** Bytes to take, up to a word. */
  val take = IO(Input(UInt(4.W)))

  /** No byte follows those in the buffer; memory has refused what follows. */
  val ended, faulted = IO(Output(Bool()))

  /** Bytes of the stream that have been taken. */
  val position = IO(Output(UInt(64.W)))

  private val held = RegInit(0.U((16 * word).W))
  private val number = RegInit(0.U(5.W))
  private val taken = RegInit(0.U(64.W))
  private val fills = number <= word.U
  private val arriving = Mux(stream.available > word.U, word.U, stream.available(3, 0))
  private val entering = stream.data.asUInt(8 * word - 1, 0) & FillInterleaved(8, Lines.mask(arriving, word))
  stream.consume := Mux(fills, arriving, 0.U)

  private val joined = held | Mux(fills, entering << Cat(number(3, 0), 0.U(3.W)), 0.U)(16 * word - 1, 0)
  held := joined >> Cat(take, 0.U(3.W))
  number := number + Mux(fills, arriving, 0.U) - take
  taken := taken + take
  data := held
  count := number
  ended := stream.available === 0.U && (stream.last || stream.fault)
  faulted := ended && stream.fault
  position := taken
  when(clear) {
    held := 0.U
    number := 0.U
    taken := 0.U
  }
}

object TextBuffer {

  /** Bytes of a word. */
  val word: Int = 8
}
