package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.memory.SramQueue
import rackwright.network.Frame
import rackwright.port.{MemoryPort, MemoryPortParams}

/** Reads chains of descriptors that the driver has made available, and checks them (virtio 1.2, sections 2.7.5 to
  * 2.7.14). Only complete and valid chains are output.
  *
  * @param writable
  *   the unit writes the buffers of this queue; else it reads them.
  */
class ChainReader(port: MemoryPortParams, writable: Boolean) extends Module {
  import ChainReader._

  val ring = IO(Input(new Ring))

  /** The memory that buffers may lie in. */
  val window = IO(Input(new Window))

  /** The driver has agreed to event indices. */
  val eventIndex = IO(Input(Bool()))

  /** The queue may be read. */
  val run = IO(Input(Bool()))

  /** Drops all state; only while nothing is in progress. */
  val clear = IO(Input(Bool()))

  /** The driver has made buffers available. */
  val notified = IO(Input(Bool()))
  val chain = IO(Decoupled(new Chain))
  val segment = IO(Decoupled(new Segment))
  val fault = IO(Output(UInt(Fault.width.W)))
  val memory = IO(new MemoryPort(port))

  /** Number of chains known to have been made available, modulo 2^16. */
  val available = IO(Output(UInt(16.W)))

  /** No access to memory is in progress, and none starts. */
  val stopped = IO(Output(Bool()))

  /** The reader is inactive until memory responds, a chain is taken, or the driver sends a notification. */
  val idle = IO(Output(Bool()))

  private val access = Module(new RingAccess(port))
  memory <> access.memory
  private val segments = Module(new SramQueue(new Segment, Virtio.ringEntries))
  private val chains = withReset(reset.asBool || clear)(Module(new Queue(new Chain, Virtio.chainsAhead)))
  segments.clear := clear
  segment <> segments.deq
  chain <> chains.io.deq

  private val state = RegInit(State.rest)
  private val kicked = RegInit(false.B)

  /** The entry of the available ring that is read next, and the entries known to be available. */
  private val next = RegInit(0.U(16.W))
  private val known = RegInit(0.U(16.W))
  available := known

  /** The driver has been told at which entry to send a notification. */
  private val asked = RegInit(false.B)
  private val head = Reg(UInt(16.W))
  private val descriptor = Reg(UInt(16.W))
  private val count = Reg(UInt(Virtio.sizeBits.W))
  private val total = Reg(UInt(17.W))
  private val held = Reg(new Segment)
  private val follower = Reg(UInt(16.W))

  private val answered = access.answer.valid
  private val data = access.answer.bits.data
  private val word = data(15, 0)

  access.request.valid := run && State.asking.map(_ === state).reduce(_ || _)
  access.request.bits.write := state === State.askEvent
  access.request.bits.wide := false.B
  access.request.bits.data := next
  access.request.bits.address := MuxLookup(state, 0.U)(
    Seq(
      State.askIndex -> (ring.available + 2.U),
      State.askEntry -> (ring.available + 4.U + (ring.slot(next) << 1)),
      State.askDescriptor -> (ring.descriptors + (descriptor << 4)),
      State.askEvent -> (ring.used + 4.U + (ring.size << 3))
    )
  )

  private val broken = WireDefault(Fault.none)
  fault := broken
  when(notified) { kicked := true.B }

  // A descriptor (virtio 1.2, section 2.7.5).
  private val place = data(63, 0)
  private val length = data(95, 64)
  private val flags = data(111, 96)
  private val hasNext = flags(0)
  private val isWritable = flags(1)
  private val newTotal = total +& Mux(length(31, 16).orR, 0xffff.U, length(15, 0))
  private val newCount = count + 1.U
  private val beyond = !window.holds(place, length)
  // A frame to send must fit completely; a buffer for a received one may be larger.
  private val tooLong = if (writable) false.B else length(31, 16).orR || newTotal > longest.U
  private val tooShort = if (writable) false.B else !hasNext && newTotal <= Virtio.headerBytes.U
  private val descriptorFault = MuxCase(
    Fault.none,
    Seq(
      access.answer.bits.fault -> Fault.ring,
      (flags(15, 2).orR || isWritable =/= writable.B) -> Fault.order,
      (length === 0.U || tooLong || tooShort) -> Fault.length,
      beyond -> Fault.address,
      (hasNext && (newCount >= ring.size || data(127, 112) >= ring.size)) -> Fault.chain
    )
  )

  segments.enq.valid := state === State.keep
  segments.enq.bits := held
  chains.io.enq.valid := state === State.offer
  chains.io.enq.bits.head := head
  chains.io.enq.bits.total := Mux(total(16), 0xffff.U, total(15, 0))

  when(access.request.fire) {
    state := MuxLookup(state, State.rest)(
      Seq(
        State.askIndex -> State.takeIndex,
        State.askEntry -> State.takeEntry,
        State.askDescriptor -> State.takeDescriptor,
        State.askEvent -> State.takeEvent
      )
    )
  }
  switch(state) {
    is(State.rest) {
      when(run && kicked) {
        kicked := notified
        asked := false.B
        state := State.askIndex
      }
    }
    is(State.takeIndex) {
      when(answered) {
        val waiting = word - next
        known := word
        when(access.answer.bits.fault) {
          broken := Fault.ring
        }.elsewhen(waiting > ring.size) {
          broken := Fault.index
        }.elsewhen(waiting =/= 0.U) {
          state := State.askEntry
        }.otherwise {
          // A buffer may have been added before the driver knew that it has to send a notification: the index is read
          // once more.
          state := Mux(eventIndex && !asked, State.askEvent, State.rest)
        }
      }
    }
    is(State.takeEvent) {
      when(answered) {
        asked := true.B
        broken := Mux(access.answer.bits.fault, Fault.ring, Fault.none)
        state := State.askIndex
      }
    }
    is(State.takeEntry) {
      when(answered) {
        head := word
        descriptor := word
        count := 0.U
        total := 0.U
        broken := Mux(access.answer.bits.fault, Fault.ring, Mux(word >= ring.size, Fault.chain, Fault.none))
        state := State.askDescriptor
      }
    }
    is(State.takeDescriptor) {
      when(answered) {
        held.address := place
        held.length := Mux(length(31, 16).orR, 0xffff.U, length(15, 0))
        held.last := !hasNext
        follower := data(127, 112)
        count := newCount
        total := Mux(newTotal(16) || newTotal(17), 0x10000.U, newTotal)
        broken := descriptorFault
        state := State.keep
      }
    }
    is(State.keep) {
      when(segments.enq.ready) {
        descriptor := follower
        state := Mux(held.last, State.offer, State.askDescriptor)
      }
    }
    is(State.offer) {
      when(chains.io.enq.ready) {
        next := next + 1.U
        asked := false.B
        state := Mux(next + 1.U === known, State.askIndex, State.askEntry)
      }
    }
  }
  // A chain that is incomplete when the queue stops is dropped.
  when(broken =/= Fault.none || (!run && !access.waits && !access.request.fire)) { state := State.rest }
  when(clear) {
    next := 0.U
    known := 0.U
    kicked := false.B
  }

  stopped := state === State.rest && !access.waits
  private val moves = state === State.keep && segments.enq.ready || state === State.offer && chains.io.enq.ready
  private val leaves = state =/= State.rest && !run && !access.waits
  private val starts = state === State.rest && (kicked && run || notified)
  idle := !access.request.valid && !answered && !moves && !leaves && !starts && segments.still
}

/** The action of a [[ChainReader]]. */
object ChainReader {
  private val longest = Frame.maxBytes + Virtio.headerBytes

  private object State extends ChiselEnum {
    val rest, askIndex, takeIndex, askEntry, takeEntry, askDescriptor, takeDescriptor, askEvent, takeEvent, keep,
        offer =
      Value
    val asking: Seq[Type] = Seq(askIndex, askEntry, askDescriptor, askEvent)
  }
}
