package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** Returns buffers to the driver, one after the other, and reports whether it has requested an interrupt (virtio 1.2,
  * sections 2.7.7 and 2.7.8).
  */
class UsedWriter(port: MemoryPortParams) extends Module {
  import UsedWriter._

  val ring = IO(Input(new Ring))

  /** The driver has agreed to event indices. */
  val eventIndex = IO(Input(Bool()))

  /** Drops all state; only while nothing is in progress. */
  val clear = IO(Input(Bool()))
  val used = IO(Flipped(Decoupled(new Used)))

  /** The driver's request is not read: it is notified of every frame. */
  val always = IO(Input(Bool()))

  /** Number of buffers returned, modulo 2^16. */
  val back = IO(Output(UInt(16.W)))

  /** The driver has requested a notification of the buffers just returned. */
  val interrupt = IO(Output(Bool()))
  val fault = IO(Output(UInt(Fault.width.W)))
  val memory = IO(new MemoryPort(port))

  /** Nothing is in progress. */
  val stopped = IO(Output(Bool()))

  /** The writer is inactive until memory responds or a buffer is returned. */
  val idle = IO(Output(Bool()))

  private val access = Module(new RingAccess(port))
  memory <> access.memory
  private val state = RegInit(State.rest)
  private val index = RegInit(0.U(16.W))

  /** Buffers before this one that belong to the same frame. */
  private val together = RegInit(0.U(log2Ceil(Virtio.chainsPerFrame).W))
  private val element = ring.used + 4.U + (ring.slot(index) << 3)
  private val answered = access.answer.valid

  private val asks = state =/= State.rest && !access.waits
  access.request.valid := asks
  access.request.bits.write := state =/= State.event
  access.request.bits.wide := state =/= State.index
  access.request.bits.address := MuxLookup(state, 0.U)(
    Seq(
      State.id -> element,
      State.length -> (element + 4.U),
      State.index -> (ring.used + 2.U),
      State.event -> Mux(eventIndex, ring.available + 4.U + (ring.size << 1), ring.available)
    )
  )
  access.request.bits.data := MuxLookup(state, 0.U)(
    Seq(State.id -> used.bits.head, State.length -> used.bits.length, State.index -> (index + 1.U)(15, 0))
  )

  private val word = access.answer.bits.data(15, 0)
  private val faulty = answered && access.answer.bits.fault
  private val ends = answered && state === State.event
  private val goesOn = answered && state === State.length && used.bits.more
  // Whether the requested index is that of one of the buffers of this frame.
  private val reached = (index - word)(15, 0) <= together
  used.ready := ends || goesOn || faulty
  interrupt := ends && !faulty && (always || Mux(eventIndex, reached, !word(0)))
  back := index
  fault := Mux(faulty, Fault.ring, Fault.none)
  when(state === State.rest && used.valid) { state := State.id }
  when(answered) {
    state := MuxLookup(state, State.rest)(
      Seq(
        State.id -> State.length,
        State.length -> Mux(used.bits.more, State.rest, State.index),
        State.index -> State.event
      )
    )
  }
  when(ends || goesOn) {
    index := index + 1.U
    together := Mux(ends, 0.U, together + 1.U)
  }
  when(faulty) { state := State.rest }
  when(clear) {
    index := 0.U
    together := 0.U
  }
  stopped := state === State.rest && !used.valid
  idle := !asks && !answered && !(state === State.rest && used.valid)
}

/** The action of a [[UsedWriter]]. */
object UsedWriter {
  private object State extends ChiselEnum {
    val rest, id, length, index, event = Value
  }
}
