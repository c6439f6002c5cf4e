package rackwright.memory

import chisel3._
import chisel3.util._

/** A queue whose entries are in one memory with a write port and a synchronous read port.
  *
  * A few of the oldest entries are prefetched into registers, so that there is no path from the consumer to the memory
  * and an entry is offered in every cycle. An entry is offered four cycles after it was taken.
  *
  * @param gen
  *   the entry.
  * @param entries
  *   capacity of the memory, a power of two; a few more entries are in the registers.
  * @param direct
  *   an entry that arrives while the memory is empty is stored in the registers directly and is offered in the next
  *   cycle; this adds logic after `enq`.
  */
class SramQueue[T <: Data](gen: T, entries: Int, direct: Boolean = false) extends Module {
  require(isPow2(entries) && entries >= 2, s"the entries of a queue are a power of two from 2, not $entries")
  private val pointerBits = log2Ceil(entries)

  /** Drops all entries; no entry may be offered in this cycle. */
  val clear = IO(Input(Bool()))
  val enq = IO(Flipped(Decoupled(gen)))
  val deq = IO(Decoupled(gen))

  /** Eight more entries find room. */
  val roomy = IO(Output(Bool()))

  /** No entry is held. */
  val empty = IO(Output(Bool()))

  /** The queue is inactive until an entry is offered or taken. */
  val still = IO(Output(Bool()))

  private val memory = Sram(entries, gen)
  private val ahead = withReset(reset.asBool || clear)(Module(new Queue(gen, 3)))
  private val tail = RegInit(0.U(pointerBits.W))
  private val head = RegInit(0.U(pointerBits.W))

  /** Entries in the memory, and those of them that were written before this cycle. */
  private val held = RegInit(0.U((pointerBits + 1).W))
  private val readable = RegInit(0.U((pointerBits + 1).W))

  /** Entries read and not taken by the consumer. */
  private val fetched = RegInit(0.U(2.W))
  private val room = fetched =/= 3.U
  private val fetch = readable =/= 0.U && room
  private val fetching = RegNext(fetch && !clear, false.B)

  enq.ready := !held(pointerBits)
  private val passes = Option.when(direct)(enq.valid && held === 0.U && !fetching && room)
  private val enters = passes.map(enq.fire && !_)
  when(enters.getOrElse(enq.fire)) {
    memory.write(tail, enq.bits)
    tail := tail + 1.U
  }
  when(fetch) { head := head + 1.U }
  // The arrival of an entry is known late: both numbers are computed before.
  held := Mux(enters.getOrElse(enq.fire), Mux(fetch, held, held + 1.U), Mux(fetch, held - 1.U, held))
  readable := readable + RegNext(enters.getOrElse(enq.fire) && !clear, false.B) - fetch
  fetched := fetched + passes.fold(fetch)(fetch || _) - deq.fire

  ahead.io.enq.valid := passes.fold(fetching)(fetching || _)
  ahead.io.enq.bits := memory.read(head, fetch)
  if (direct) when(!fetching) { ahead.io.enq.bits := enq.bits }
  deq <> ahead.io.deq
  roomy := held <= (entries - 8).max(0).U
  empty := held === 0.U && fetched === 0.U
  still := !fetch && !fetching && held === readable
  assert(!fetching || ahead.io.enq.ready, "an entry that was read has no place")

  when(clear) {
    tail := 0.U
    head := 0.U
    held := 0.U
    readable := 0.U
    fetched := 0.U
  }
}
