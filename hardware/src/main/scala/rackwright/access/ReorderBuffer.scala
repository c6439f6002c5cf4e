package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.port.{MemoryPortParams, MemoryResponse}

/** Restores the order of requests for memory's responses, like [[ReservationBuffer]], in a memory macro with a write
  * port and a synchronous read port.
  *
  * Beats are prefetched into a few registers, so that there is no path from the consumer to the memory. A beat is
  * offered three cycles later than by a register file: for streams, where throughput matters.
  */
class ReorderBuffer(port: MemoryPortParams, slots: Int) extends Module {
  require(isPow2(slots) && slots >= 2, s"the beats outstanding are a power of two from 2, not $slots")
  require(slots <= port.outstanding, s"$slots beats outstanding need more than ${port.tagBits} tag bits")
  private val slotBits = log2Ceil(slots)

  /** Drops every beat; allowed only while `quiet`. */
  val clear = IO(Input(Bool()))

  /** The slot for one more beat. */
  val reserve = IO(Decoupled(UInt(slotBits.W)))

  /** Answers of memory, in any order; always taken. */
  val response = IO(Flipped(Decoupled(new MemoryResponse(port))))

  /** The next beat in the order of the reservations. */
  val beat = IO(Decoupled(new LoadedBeat(port.bytes)))

  /** Every reserved beat has been answered. */
  val quiet = IO(Output(Bool()))

  /** The buffer is inactive until memory responds or a beat is taken. */
  val still = IO(Output(Bool()))

  private val beats = Sram(slots, new LoadedBeat(port.bytes))
  private val ahead = withReset(reset.asBool || clear)(Module(new Queue(new LoadedBeat(port.bytes), 3)))
  private val answered = RegInit(0.U(slots.W))
  private val head = RegInit(0.U(slotBits.W))
  private val tail = RegInit(0.U(slotBits.W))
  private val held = RegInit(0.U((slotBits + 1).W))
  private val awaited = RegInit(0.U((slotBits + 1).W))

  reserve.valid := held =/= slots.U
  reserve.bits := tail

  response.ready := true.B
  private val slot = response.bits.tag(slotBits - 1, 0)
  when(response.valid) {
    val answer = Wire(new LoadedBeat(port.bytes))
    answer.data := response.bits.data
    answer.fault := response.bits.fault
    beats.write(slot, answer)
  }

  /** Whether the beat at `head` can be read, known in a register; and beats read that were not taken. */
  private val readable = RegInit(false.B)
  private val fetched = RegInit(0.U(2.W))
  private val fetch = readable && fetched =/= 3.U
  private val fetching = RegNext(fetch && !clear, false.B)
  private val next = head + fetch
  readable := answered(next)
  fetched := fetched + fetch - beat.fire
  ahead.io.enq.valid := fetching
  ahead.io.enq.bits := beats.read(head, fetch)
  beat <> ahead.io.deq
  assert(!fetching || ahead.io.enq.ready, "a beat that was read has no place")
  quiet := awaited === 0.U
  still := !fetch && !fetching && !RegNext(response.valid, false.B)

  private val arrival = Mux(response.valid, UIntToOH(slot, slots), 0.U)
  private val departure = Mux(fetch, UIntToOH(head, slots), 0.U)
  answered := (answered | arrival) & ~departure
  when(reserve.fire) { tail := tail + 1.U }
  head := next
  held := held + reserve.fire - fetch
  awaited := awaited + reserve.fire - response.valid

  when(clear) {
    answered := 0.U
    head := 0.U
    tail := 0.U
    held := 0.U
    readable := false.B
    fetched := 0.U
  }
}
