package rackwright.pagefault

import chisel3._
import chisel3.util._

/** A page to evict: its frame, and its remote entry from now on. */
class Eviction extends Bundle {
  val frame = UInt(Sizes.frameBits.W)
  val entry = UInt(64.W)
}

/** Pages that leave: a slot for each, until its blade has answered. */
class EvictionSlots(params: Params) extends Module {
  private val count = params.evictions
  private val slotBits = log2Ceil(count)

  val request = IO(Flipped(Decoupled(new Eviction)))
  val ask = IO(Decoupled(new Outgoing(count)))

  /** The frame of a page that has left, or could not. */
  val returned = IO(Decoupled(new ReturnedFrame))

  /** The receiver queries whether a response is awaited; the result arrives a cycle later. */
  val lookup = IO(Input(new Incoming))
  val expected = IO(Output(Bool()))

  /** A slot's blade has answered: the page is stored, or it has no room. */
  val answered = IO(Flipped(Valid(new Incoming)))
  val tick = IO(Input(Bool()))
  val retried = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val free, ask, waiting, done = Value
  }
  private class Slot extends Bundle {
    val eviction = new Eviction
    val sequence = UInt(Message.sequenceBits.W)
    val age = UInt(Retry.ageBits.W)
    val attempts = UInt(Retry.attemptBits.W)
    val settled = Bool()
  }
  private val states = RegInit(VecInit.fill(count)(State.free))
  private val slots = Reg(Vec(count, new Slot))
  private val sequence = RegInit(0.U(Message.sequenceBits.W))

  private def first(state: State.Type): (Bool, UInt) = {
    val those = VecInit(states.map(_ === state)).asUInt
    (those.orR, PriorityEncoder(those))
  }

  private val (anyFree, freeSlot) = first(State.free)
  request.ready := anyFree
  when(request.fire) {
    states(freeSlot) := State.ask
    slots(freeSlot).eviction := request.bits
    slots(freeSlot).sequence := sequence
    slots(freeSlot).attempts := 0.U
    sequence := sequence + 1.U
  }

  private val (anyAsk, askSlot) = first(State.ask)
  ask.valid := anyAsk
  ask.bits.store := true.B
  ask.bits.slot := askSlot
  ask.bits.sequence := slots(askSlot).sequence
  ask.bits.entry := slots(askSlot).eviction.entry
  ask.bits.frame := slots(askSlot).eviction.frame
  when(ask.fire) {
    states(askSlot) := State.waiting
    slots(askSlot).age := 0.U
    slots(askSlot).attempts := slots(askSlot).attempts + 1.U
  }

  private val late = Wire(Vec(count, Bool()))
  for (i <- 0 until count) {
    late(i) := tick && states(i) === State.waiting && slots(i).age === Retry.age.U
    when(tick && states(i) === State.waiting) { slots(i).age := slots(i).age + 1.U }
    when(late(i)) {
      states(i) := Mux(slots(i).attempts === Retry.attempts.U, State.done, State.ask)
      slots(i).settled := false.B
    }
  }
  retried := RegNext(late.asUInt.orR, false.B)

  private val looked = RegNext(lookup)
  private val lookedSlot = slots(looked.slot(slotBits - 1, 0))
  expected := looked.store && looked.slot < count.U && states(looked.slot(slotBits - 1, 0)) === State.waiting &&
    lookedSlot.sequence === looked.sequence && Entry.page(lookedSlot.eviction.entry) === looked.page
  // Since the response's header was looked up, the slot may have timed out and started with another page.
  private val answeredSlot = answered.bits.slot(slotBits - 1, 0)
  private val isStill = slots(answeredSlot).sequence === answered.bits.sequence
  when(answered.valid && states(answeredSlot) === State.waiting && isStill) {
    states(answeredSlot) := State.done
    slots(answeredSlot).settled := answered.bits.done
  }

  private val (anyDone, doneSlot) = first(State.done)
  returned.valid := anyDone
  returned.bits.frame := slots(doneSlot).eviction.frame
  returned.bits.settled := slots(doneSlot).settled
  when(returned.fire) { states(doneSlot) := State.free }
  idle := !request.fire && states.map(state => state === State.free || state === State.waiting).reduce(_ && _)
}
