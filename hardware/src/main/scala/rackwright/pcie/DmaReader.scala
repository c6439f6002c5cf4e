package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.stream.SkidBuffer

/** Reads ranges of the host's memory, with several outstanding requests, and outputs their data in order.
  *
  * Each request has a tag, whose place in a memory takes its data as completions bring it. Tags are used in turn, so
  * that the oldest is the next to leave. A tag whose completion has timed out is not used again.
  */
class DmaReader(params: Params) extends Module {
  val range = IO(Flipped(Decoupled(new DmaRequest)))
  val settings = IO(Input(new FunctionSettings))
  val packet = IO(Decoupled(new PacketBeat))
  val completion = IO(Flipped(Valid(new CompletionBeat)))
  val beat = IO(Decoupled(new ReadBeat))

  /** A completion that is not awaited, or does not match its request. */
  val unexpected = IO(Output(Bool()))

  /** The same, or one whose data are known to be wrong. */
  val error = IO(Valid(new PacketError))
  val timedOut = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val splitter = Module(new RangeSplitter(params.readBytes))
  splitter.range <> range
  splitter.size := settings.readRequest

  private val slots = Module(new ReadSlots(params))
  slots.extended := settings.extendedTags
  slots.completion.valid := RegNext(completion.valid, false.B)
  slots.completion.bits := RegNext(completion.bits)
  slots.requester := settings.id
  beat <> slots.beat
  unexpected := slots.unexpected
  error := slots.error
  timedOut := slots.timedOut

  // A part gets its tag when its request leaves.
  private val request = splitter.part
  private val words = Cat(request.bits.beats, 0.U(2.W))
  private val header = Header.request(write = false, settings.id, slots.tag, request.bits.address, words)
  private val leaving = Wire(Decoupled(new PacketBeat))
  leaving.valid := request.valid && slots.reserve.ready && settings.masterEnabled
  leaving.bits.data := Header.toBeat(header)
  leaving.bits.keep := Fill(Params.beatBytes, 1.U(1.W))
  leaving.bits.last := true.B
  leaving.bits.credits := 0.U
  slots.reserve.valid := leaving.fire
  slots.reserve.bits := request.bits
  request.ready := leaving.fire
  // Whether a tag is taken depends on no other class of packets.
  packet <> SkidBuffer(leaving)
  idle := splitter.idle && slots.idle
}

/** The slots for the data of outstanding reads, by tag. */
class ReadSlots(params: Params) extends Module {

  /** Whether more tags than 32 may be used. */
  val extended = IO(Input(Bool()))
  val requester = IO(Input(UInt(16.W)))

  /** A read leaves, with `tag`. */
  val reserve = IO(Flipped(Decoupled(new RangePart)))
  val tag = IO(Output(UInt(params.tagBits.W)))
  val completion = IO(Flipped(Valid(new CompletionBeat)))
  val beat = IO(Decoupled(new ReadBeat))
  val unexpected = IO(Output(Bool()))
  val error = IO(Valid(new PacketError))
  val timedOut = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val countBits = params.slotBits + 1
  private val data = Sram(params.tags * params.slotBeats, UInt((8 * Params.beatBytes).W))
  private val waiting = RegInit(VecInit.fill(params.tags)(false.B))
  private val retired = RegInit(VecInit.fill(params.tags)(false.B))
  private val expected = Reg(Vec(params.tags, UInt(countBits.W)))

  /** Bits 6 to 4 of the address of each read, whose lower bits are 0. */
  private val begins = Reg(Vec(params.tags, UInt(ReadSlots.lowerBits.W)))
  private val received = Reg(Vec(params.tags, UInt(countBits.W)))
  private val faulty = Reg(Vec(params.tags, Bool()))
  private val ends = Reg(Vec(params.tags, Bool()))
  private val head = RegInit(0.U(params.tagBits.W))
  private val tail = RegInit(0.U(params.tagBits.W))
  private val used = RegInit(0.U((params.tagBits + 1).W))

  private val few = params.tags.min(ReadSlots.plainTags)
  private def after(slot: UInt): UInt = Mux(!extended && slot === (few - 1).U, 0.U, slot + 1.U)
  private val most = Mux(extended, params.tags.U, few.U)

  // Tags that no longer serve are passed over, at both ends.
  private val skipsTail = retired(tail) && used =/= most
  reserve.ready := used =/= most && !retired(tail)
  tag := tail
  when(reserve.fire) {
    waiting(tail) := true.B
    expected(tail) := reserve.bits.beats
    begins(tail) := reserve.bits.address(6, 4)
    received(tail) := 0.U
    faulty(tail) := false.B
    ends(tail) := reserve.bits.last
    assert(!waiting(tail), "a tag is used twice")
  }
  when(reserve.fire || skipsTail) { tail := after(tail) }

  // Completions. A completion that does not match its tag's request brings no data.
  private val header = completion.bits.header
  private val slot = header.completionTag(params.tagBits - 1, 0)
  private val asked = header.completionTag < params.tags.U && waiting(slot) && received(slot) =/= expected(slot) &&
    header.words(2)(31, 16) === requester
  private val left = expected(slot) - received(slot)

  // All of our reads are whole beats, and so are the parts in which a completer may send their data (2.3.1.1).
  private val length = header.lengthInWords
  private val lower = Cat(begins(slot) + received(slot)(ReadSlots.lowerBits - 1, 0), 0.U(4.W))
  private val matches = header.hasData && header.byteCount === Cat(left, 0.U(log2Ceil(Params.beatBytes).W)) &&
    header.lowerAddress === lower && length(1, 0) === 0.U && length <= Cat(left, 0.U(2.W))
  private val good = header.status === Header.successful && matches && !header.isPoisoned
  private val accepted = RegInit(false.B)
  private val brings = Mux(completion.bits.first, asked && good, accepted)
  // What differs from its request in more than its status is no completion of it (2.3.2).
  private val differs = header.status === Header.successful && !good
  private val isPoisoned = asked && header.isPoisoned
  error.valid := completion.valid && completion.bits.first && (!asked || differs || header.isPoisoned)
  unexpected := error.valid && !isPoisoned
  error.bits.fault := Mux(isPoisoned, ErrorLog.poisoned, ErrorLog.unexpectedCompletion)
  error.bits.advisory := !isPoisoned
  error.bits.header := header
  when(completion.valid) {
    accepted := brings
    when(brings) {
      data.write(Cat(slot, received(slot)(params.slotBits - 1, 0)), completion.bits.data)
      received(slot) := received(slot) + 1.U
      assert(received(slot) =/= expected(slot), "a completion brings more than was asked for")
    }.elsewhen(completion.bits.first && asked) {
      received(slot) := expected(slot)
      faulty(slot) := true.B
    }
  }

  // Data of the oldest tag leave beat by beat.
  private val drained = RegInit(0.U(countBits.W))
  private val ahead = Module(new Queue(new ReadBeat, 3))
  private val fetched = RegInit(0.U(2.W))
  private val fetch = used =/= 0.U && waiting(head) && received(head) =/= drained && fetched =/= 3.U
  private val whole = fetch && drained + 1.U === expected(head)
  private val skipsHead = used =/= 0.U && retired(head) && !waiting(head)
  fetched := fetched + fetch - beat.fire
  ahead.io.enq.valid := RegNext(fetch, false.B)
  ahead.io.enq.bits.data := data.read(Cat(head, drained(params.slotBits - 1, 0)), fetch)
  ahead.io.enq.bits.fault := RegNext(faulty(head))
  ahead.io.enq.bits.last := RegNext(whole && ends(head), false.B)
  beat <> ahead.io.deq
  assert(!ahead.io.enq.valid || ahead.io.enq.ready, "a beat that was read has no place")
  drained := Mux(whole, 0.U, drained + fetch)
  when(whole) { waiting(head) := false.B }
  when(whole || skipsHead) { head := after(head) }
  used := used + (reserve.fire || skipsTail) - (whole || skipsHead)

  // The oldest has waited for too long.
  private val patience = RegInit(0.U(ReadSlots.timeOutBits.W))
  private val waits = used =/= 0.U && waiting(head) && received(head) === drained
  patience := Mux(waits, patience + 1.U, 0.U)
  timedOut := waits && patience.andR
  when(timedOut) {
    received(head) := expected(head)
    faulty(head) := true.B
    retired(head) := true.B
  }
  idle := used === 0.U && fetched === 0.U && !completion.valid
}

object ReadSlots {

  /** Tags of a function that may not use more (PCI Express 5.0, 2.2.6.2). */
  val plainTags: Int = 32

  /** Completions time out after 2 to this power cycles, 65.5 microseconds: within the range of the specification if
    * software has set none, 50 microseconds to 50 milliseconds (7.5.3.16).
    */
  val timeOutBits: Int = 17

  /** Of the lower address of a completion, those that count beats (2.2.9). */
  private val lowerBits: Int = 3
}
