package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.PackedWord
import rackwright.memory.Sram
import rackwright.stream.ByteChunk

/** The write side of an [[OutputRing]]. */
class RingPort(words: Int) extends Bundle {
  private val placeBits = log2Ceil(words)

  /** The next word; accepted if `roomy` was true at any time in the last sixteen cycles. */
  val word = Valid(new PackedWord)
  val roomy = Input(Bool())

  /** Reserves an entry for a word that is written later; not in the same cycle as a word. */
  val skip = Output(Bool())
  val next = Input(UInt(placeBits.W))

  /** Writes a word into a reserved entry; not in the same cycle as the others. */
  val patch = Valid(new Bundle {
    val place = UInt(placeBits.W)
    val word = new PackedWord
  })

  /** Commits everything written so far. */
  val commit = Output(Bool())
}

/** A ring buffer for words of blocks on their way to memory. The words of a block leave when the block is committed, so
  * that its headers, which hold its size, can be written last.
  *
  * @param words
  *   capacity: more than the largest block.
  */
class OutputRing(words: Int) extends Module {
  private val placeBits = log2Ceil(words)

  val port = IO(Flipped(new RingPort(words)))
  val output = IO(Decoupled(new ByteChunk(8)))
  val empty = IO(Output(Bool()))

  private val (word, skip, patch, commit) = (port.word, port.skip, port.patch, port.commit)
  private val memory = Sram(words, new PackedWord)
  private val ahead = Module(new Queue(new PackedWord, 3))
  private val tail = RegInit(0.U(placeBits.W))
  private val head = RegInit(0.U(placeBits.W))
  private val held = RegInit(0.U(log2Ceil(words + 1).W))
  private val ready = RegInit(0.U(log2Ceil(words + 1).W))
  private val open = RegInit(0.U(log2Ceil(words + 1).W))
  private val fetched = RegInit(0.U(2.W))

  private def after(place: UInt): UInt = Mux(place === (words - 1).U, 0.U, place + 1.U)
  private val grows = word.valid || skip
  private val fetch = ready =/= 0.U && fetched =/= 3.U
  when(word.valid || patch.valid) {
    memory.write(Mux(patch.valid, patch.bits.place, tail), Mux(patch.valid, patch.bits.word, word.bits))
  }
  assert(!(patch.valid && grows), "two words are written at once")
  assert(!grows || held =/= words.U, "the ring overflows")
  when(grows) { tail := after(tail) }
  when(fetch) { head := after(head) }
  port.next := tail
  held := held + grows - fetch
  open := Mux(commit, 0.U, open) + grows
  // A word that was written in the cycle before can be read.
  ready := ready + Mux(commit, open, 0.U) - fetch
  port.roomy := RegNext(held < (words - 24).U, false.B)

  private val fetching = RegNext(fetch, false.B)
  fetched := fetched + fetch - ahead.io.deq.fire
  ahead.io.enq.valid := fetching
  ahead.io.enq.bits := memory.read(head, fetch)
  output.valid := ahead.io.deq.valid
  output.bits.data := ahead.io.deq.bits.data.asTypeOf(output.bits.data)
  output.bits.count := ahead.io.deq.bits.count
  ahead.io.deq.ready := output.ready
  empty := held === 0.U && fetched === 0.U
}
