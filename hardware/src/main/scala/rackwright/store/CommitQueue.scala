package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A queue in a memory whose latest entries are offered only when they are committed, and can be withdrawn until then.
  *
  * @param gen
  *   the entry.
  * @param entries
  *   capacity, a power of two: the most entries that may wait to be committed.
  */
class CommitQueue[T <: Data](gen: T, entries: Int) extends Module {
  private val pointerBits = log2Ceil(entries)

  /** Drops all entries. */
  val clear = IO(Input(Bool()))
  val enq = IO(Flipped(Decoupled(gen)))

  /** All entries of earlier cycles are offered from now on, or those that are not are withdrawn. */
  val commit = IO(Input(Bool()))
  val withdraw = IO(Input(Bool()))
  val deq = IO(Decoupled(gen))

  /** No committed entry is held. */
  val empty = IO(Output(Bool()))

  private val memory = Sram(entries, gen)
  private val ahead = withReset(reset.asBool || clear)(Module(new Queue(gen, 3)))

  /** With a bit that distinguishes a full memory from an empty one. */
  private val tail, committed, head = RegInit(0.U((pointerBits + 1).W))
  private val fetched = RegInit(0.U(2.W))
  private val fetch = head =/= committed && fetched =/= 3.U
  private val fetching = RegNext(fetch && !clear, false.B)

  enq.ready := tail =/= (head ^ entries.U)
  when(enq.fire) {
    memory.write(tail(pointerBits - 1, 0), enq.bits)
    tail := tail + 1.U
  }
  when(commit) { committed := tail }
  when(withdraw) { tail := committed }
  when(fetch) { head := head + 1.U }
  fetched := fetched + fetch - deq.fire
  ahead.io.enq.valid := fetching
  ahead.io.enq.bits := memory.read(head(pointerBits - 1, 0), fetch)
  deq <> ahead.io.deq
  empty := head === committed && fetched === 0.U
  assert(!(withdraw && enq.fire), "an entry is withdrawn and entered at once")
  when(clear) {
    tail := 0.U
    committed := 0.U
    head := 0.U
    fetched := 0.U
  }
}
