package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

/** Words as a stream of bytes, of which whole words are consumed. */
class WordStream extends Module {
  val clear = IO(Input(Bool()))
  val word = IO(Flipped(Decoupled(UInt(64.W))))

  /** No word follows; memory has refused what follows. */
  val ended, faulted = IO(Input(Bool()))
  val stream = IO(new ByteStream(Grain.bytes))

  private val held = Reg(UInt((8 * Grain.bytes).W))
  private val count = RegInit(0.U(log2Ceil(Grain.words + 1).W))
  private val consumed = stream.consume >> 3

  word.ready := count =/= Grain.words.U
  private val joined = held | Mux(word.valid, word.bits << Cat(count(1, 0), 0.U(6.W)), 0.U)
  held := Mux(word.ready, joined, held) >> Cat(consumed, 0.U(6.W))
  count := count + word.fire - consumed
  stream.data := held.asTypeOf(stream.data)
  stream.available := Cat(count, 0.U(3.W))
  stream.last := ended && !word.valid
  stream.fault := stream.last && faulted
  when(clear) {
    held := 0.U
    count := 0.U
  }
}
