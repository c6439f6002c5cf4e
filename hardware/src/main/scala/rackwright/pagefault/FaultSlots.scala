package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** Requests the page of an entry. */
class WalkRequest extends Bundle {

  /** The address of the entry, in units of 8 bytes. */
  val place = UInt(Sizes.entryPlaceBits.W)

  /** Software is the requester, and may also request pages of instructions. */
  val software = Bool()

  /** A hart stalls for the response. */
  val awaited = Bool()
}

/** A frame for an arriving page, and the address of its record. */
class FreeFrame extends Bundle {
  val frame = UInt(Sizes.frameBits.W)
  val record = UInt(Sizes.recordPlaceBits.W)
}

/** Pages being fetched: a slot for each.
  *
  * A slot reads the entry, takes a free frame, requests the page from the blade, and writes the entry when the receiver
  * has written the page. A second walk for the same entry joins the first.
  */
class FaultSlots(params: Params) extends Module {
  private val count = params.faults
  private val slotBits = log2Ceil(count)

  val request = IO(Flipped(Decoupled(new WalkRequest)))

  /** The answer to the walk that is awaited. */
  val result = IO(Decoupled(UInt(Cause.width.W)))
  val freeFrame = IO(Flipped(Decoupled(new FreeFrame)))
  val newPage = IO(Decoupled(new NewPage))

  /** The record of the last reported new page is in memory. */
  val recorded = IO(Input(Bool()))

  /** The frame of a page that did not arrive. */
  val returned = IO(Decoupled(new ReturnedFrame))
  val ask = IO(Decoupled(new Outgoing(count)))

  /** The receiver queries whether a response is awaited; the result arrives a cycle later. */
  val lookup = IO(Input(new Incoming))
  val expected = IO(Output(Bool()))
  val frame = IO(Output(UInt(Sizes.frameBits.W)))

  /** A page has started to arrive for a slot: no other copy of it is expected any more. */
  val claimed = IO(Flipped(Valid(UInt(slotBits.W))))

  /** The arriving page was damaged. */
  val abandoned = IO(Flipped(Valid(UInt(slotBits.W))))

  /** All of a page has been written for a slot, or could not be. */
  val arrived = IO(Flipped(Valid(UInt(slotBits.W))))
  val faulted = IO(Input(Bool()))

  /** An answer without a page, for a slot. */
  val refused = IO(Flipped(Valid(new Incoming)))
  val walk = IO(new MemoryPort(params.entries))
  val tick = IO(Input(Bool()))
  val retried = IO(Output(Bool()))

  /** Pages are being fetched. */
  val fetching = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val free, read, reading, take, ask, waiting, receiving, install, installing, tell, telling, giveBack, done = Value
  }
  private class Slot extends Bundle {
    val place = UInt(Sizes.entryPlaceBits.W)
    val entry = UInt(64.W)
    val free = new FreeFrame
    val sequence = UInt(Message.sequenceBits.W)
    val software = Bool()
    val refused = Bool()
    val age = UInt(Retry.ageBits.W)
    val attempts = UInt(Retry.attemptBits.W)
    val cause = UInt(Cause.width.W)
  }
  private val states = RegInit(VecInit.fill(count)(State.free))
  private val slots = Reg(Vec(count, new Slot))
  private val sequence = RegInit(0.U(Message.sequenceBits.W))

  private def in(state: State.Type): UInt = VecInit(states.map(_ === state)).asUInt
  private def first(state: State.Type): (Bool, UInt) = (in(state).orR, PriorityEncoder(in(state)))

  // A walk is stored in a register while it is compared with the slots.
  private val asked = Queue(request, 1, pipe = true)
  private val waiter = RegInit(0.U.asTypeOf(Valid(UInt(slotBits.W))))
  private val hits = VecInit(slots.zip(states).map { case (slot, state) =>
    state =/= State.free && state =/= State.done && slot.place === asked.bits.place
  }).asUInt
  private val (anyFree, freeSlot) = first(State.free)
  private val joins = hits.orR
  // The hart's prefetches leave a slot free for pages that it may have to wait for.
  private val ahead = !asked.bits.awaited && !asked.bits.software
  private val enough = Mux(ahead, (in(State.free) & (in(State.free) - 1.U)).orR, anyFree)
  private val turnedAway = asked.valid && !joins && !enough
  private val ended = waiter.valid && states(waiter.bits) === State.done
  result.valid := ended || (turnedAway && asked.bits.awaited)
  result.bits := Mux(ended, slots(waiter.bits).cause, Cause.busy)
  asked.ready := !waiter.valid && (!turnedAway || !asked.bits.awaited || result.ready)

  for (i <- 0 until count) {
    val awaited = waiter.valid && waiter.bits === i.U
    when(states(i) === State.done && (!awaited || result.ready)) { states(i) := State.free }
  }
  when(result.fire) { waiter.valid := false.B }
  when(asked.fire && !turnedAway) {
    waiter.valid := asked.bits.awaited
    waiter.bits := Mux(joins, PriorityEncoder(hits), freeSlot)
    when(!joins) {
      val slot = slots(freeSlot)
      states(freeSlot) := State.read
      slot.place := asked.bits.place
      slot.software := asked.bits.software
      slot.sequence := sequence
      slot.attempts := 0.U
      slot.refused := false.B
      slot.cause := Cause.served
      sequence := sequence + 1.U
    }
  }

  // The port for entries: reads before writes; the tag is the slot.
  private val (anyRead, readSlot) = first(State.read)
  private val (anyInstall, installSlot) = first(State.install)
  private val portSlot = Mux(anyRead, readSlot, installSlot)
  private val portPlace = slots(portSlot).place
  walk.request.valid := anyRead || anyInstall
  walk.request.bits.address := Cat(portPlace(Sizes.entryPlaceBits - 1, 1), 0.U(4.W))
  walk.request.bits.write := !anyRead
  walk.request.bits.data := Fill(2, Entry.installed(slots(portSlot).entry, slots(portSlot).free.frame))
  walk.request.bits.mask := Mux(portPlace(0), "hff00".U, "h00ff".U)
  walk.request.bits.tag := portSlot
  when(walk.request.fire) { states(portSlot) := Mux(anyRead, State.reading, State.installing) }

  private val answer = RegNext(walk.response.bits)
  walk.response.ready := true.B
  private val answered = answer.tag
  private val answeredSlot = slots(answered)
  when(RegNext(walk.response.valid, false.B)) {
    val entry = Mux(answeredSlot.place(0), answer.data(127, 64), answer.data(63, 0))
    when(states(answered) === State.reading) {
      answeredSlot.entry := entry
      val refusal = MuxCase(
        Cause.served,
        Seq(
          answer.fault -> Cause.accessFault,
          Entry.valid(entry) -> Cause.served,
          !Entry.remote(entry) -> Cause.notRemote,
          (Entry.executable(entry) && !answeredSlot.software) -> Cause.executable
        )
      )
      answeredSlot.cause := refusal
      states(answered) := Mux(refusal === Cause.served && !Entry.valid(entry), State.take, State.done)
    }.otherwise {
      answeredSlot.cause := Mux(answer.fault, Cause.accessFault, Cause.served)
      states(answered) := Mux(answer.fault, State.giveBack, State.tell)
    }
  }

  // A frame, or the walk is refused.
  private val (anyTake, takeSlot) = first(State.take)
  freeFrame.ready := anyTake
  when(anyTake) {
    slots(takeSlot).free := freeFrame.bits
    slots(takeSlot).cause := Cause.noFrame
    states(takeSlot) := Mux(freeFrame.valid, State.ask, State.done)
  }

  private val (anyAsk, askSlot) = first(State.ask)
  ask.valid := anyAsk
  ask.bits.store := false.B
  ask.bits.slot := askSlot
  ask.bits.sequence := slots(askSlot).sequence
  ask.bits.entry := slots(askSlot).entry
  ask.bits.frame := 0.U
  when(ask.fire) {
    states(askSlot) := State.waiting
    slots(askSlot).age := 0.U
    slots(askSlot).attempts := slots(askSlot).attempts + 1.U
  }

  // Time advances in external ticks, so that the unit is inactive while a response is awaited.
  private val late = Wire(Vec(count, Bool()))
  for (i <- 0 until count) {
    val slot = slots(i)
    val claims = claimed.valid && claimed.bits === i.U
    late(i) := tick && states(i) === State.waiting && slot.age === Retry.age.U && !claims
    when(tick && states(i) === State.waiting) { slot.age := slot.age + 1.U }
    when(late(i)) {
      val over = slot.attempts === Retry.attempts.U
      states(i) := Mux(over, State.giveBack, State.ask)
      slot.cause := Mux(slot.refused, Cause.blade, Cause.timeOut)
    }
  }
  retried := RegNext(late.asUInt.orR, false.B)

  private val looked = RegNext(lookup)
  private val lookedSlot = slots(looked.slot(slotBits - 1, 0))
  expected := !looked.store && looked.slot < count.U && states(looked.slot(slotBits - 1, 0)) === State.waiting &&
    lookedSlot.sequence === looked.sequence && Entry.page(lookedSlot.entry) === looked.page
  frame := lookedSlot.free.frame
  private val refusedSlot = slots(refused.bits.slot(slotBits - 1, 0))
  when(refused.valid && refusedSlot.sequence === refused.bits.sequence) { refusedSlot.refused := true.B }
  when(claimed.valid) { states(claimed.bits) := State.receiving }
  when(abandoned.valid) { states(abandoned.bits) := State.waiting }
  when(arrived.valid) {
    states(arrived.bits) := Mux(faulted, State.giveBack, State.install)
    slots(arrived.bits).cause := Cause.accessFault
  }

  private val (anyTell, tellSlot) = first(State.tell)
  newPage.valid := anyTell
  newPage.bits.place := slots(tellSlot).place
  newPage.bits.entry := slots(tellSlot).entry
  newPage.bits.record := slots(tellSlot).free.record
  when(newPage.fire) { states(tellSlot) := State.telling }
  // Software that continues after the response to a walk finds the page's record.
  for (i <- 0 until count) {
    when(recorded && states(i) === State.telling) { states(i) := State.done }
  }

  private val (anyBack, backSlot) = first(State.giveBack)
  returned.valid := anyBack
  returned.bits.frame := slots(backSlot).free.frame
  returned.bits.settled := true.B
  when(returned.fire) { states(backSlot) := State.done }

  fetching := asked.valid || !in(State.free).andR

  private val resting = states.map(state =>
    Seq(State.free, State.reading, State.waiting, State.receiving, State.installing, State.telling)
      .map(state === _)
      .reduce(_ || _)
  )
  idle := resting.reduce(_ && _) && !asked.valid && !walk.response.valid && !RegNext(walk.response.valid, false.B)
  assert(PopCount(hits) <= 1.U || !asked.valid, "two slots fetch the page of one entry")
  assert(PopCount(in(State.telling)) <= 1.U, "two records are written at once")
}

/** Times of retransmissions. */
object Retry {
  val ageBits: Int = 3

  /** Ticks without an answer after which a request is sent again, with the next one. */
  val age: Int = 4
  val attemptBits: Int = 4

  /** Maximum number of transmissions of a request. */
  val attempts: Int = 12
}
