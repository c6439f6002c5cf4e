package rackwright.soc

import chisel3._
import chisel3.util._

import Dialect.{LazyModule, LazyModuleImp, Parameters}

/** From a memory port of a unit to TileLink, a transfer for each cache line.
  *
  * The hub keeps accesses to one line apart, so that two halves of a line, asked for one after the other, would each
  * take as long as memory does. Requests for beats of one line therefore share a transfer: a read as long as the `Get`
  * has not left, a write as long as its burst goes on. Each transfer has a slot, which is its source number and knows
  * the tags of its beats.
  *
  * Requests and answers wait in a register each, which keeps what the unit decides late in a cycle apart from the logic
  * here. Whether a request is about the line of the one before is found when it enters.
  *
  * Addresses outside memory are answered with `fault` and go nowhere.
  */
class LinePort(spec: MemorySpec, memory: RangeSpec, lineBytes: Int)(implicit p: Parameters) extends LazyModule {
  val node = Dialect.client(spec.name, 1 << LinePort.slotBits(spec))

  lazy val module = new LinePortModule(this, spec, memory, lineBytes)
}

object LinePort {

  /** For as many transfers at once as keep a bus busy, without as many comparisons as a unit has tags. */
  def slotBits(spec: MemorySpec): Int = spec.tagBits.min(4)
}

/** A line of memory that a transfer is about, and the slot of the transfer. */
class Transfer(val spec: MemorySpec, val indexBits: Int) extends Bundle {
  val line = UInt(indexBits.W)
  val source = UInt(LinePort.slotBits(spec).W)
}

/** A request that waits: `offset` is its address from the begin of memory, if memory has it. It `follows` if it goes on
  * with the line that the request before read or wrote.
  */
class Waiting(val spec: MemorySpec, val memoryBits: Int) extends Bundle {
  val inMemory = Bool()
  val follows = Bool()
  val offset = UInt(memoryBits.W)
  val write = Bool()
  val data = UInt((8 * spec.bytes).W)
  val mask = UInt(spec.bytes.W)
  val tag = UInt(spec.tagBits.W)
}

/** The logic of a `LinePort`: `unit` is the port of the unit. */
class LinePortModule(outer: LinePort, spec: MemorySpec, memory: RangeSpec, lineBytes: Int)
    extends LazyModuleImp(outer) {
  val unit = IO(new MemoryPort(spec))

  private val (bus, edge) = outer.node.out.head
  require(edge.manager.beatBytes == spec.bytes, s"${spec.name}: a beat of ${edge.manager.beatBytes} bytes")

  private val beats = lineBytes / spec.bytes
  private val lineBits = log2Ceil(lineBytes)
  private val slots = 1 << LinePort.slotBits(spec)

  private val memoryBits = log2Ceil(memory.size)
  private val waiting = Module(new Queue(new Waiting(spec, memoryBits), 1, pipe = true))
  private val entering = waiting.io.enq.bits
  private val lineBefore = Reg(UInt((memoryBits - lineBits).W))
  private val writeBefore = Reg(Bool())
  private val inMemoryBefore = RegInit(false.B)
  waiting.io.enq.valid := unit.request.valid
  unit.request.ready := waiting.io.enq.ready
  entering.inMemory := (unit.request.bits.address >> memoryBits) === (memory.base >> memoryBits).U
  entering.offset := unit.request.bits.address(memoryBits - 1, 0)
  entering.write := unit.request.bits.write
  entering.data := unit.request.bits.data
  entering.mask := unit.request.bits.mask
  entering.tag := unit.request.bits.tag
  entering.follows := inMemoryBefore && writeBefore === entering.write && lineBefore === (entering.offset >> lineBits)
  when(waiting.io.enq.fire) {
    lineBefore := entering.offset >> lineBits
    writeBefore := entering.write
    inMemoryBefore := entering.inMemory
  }

  private val head = waiting.io.deq
  private val request = head.bits
  private val line = request.offset >> lineBits
  private val beat = request.offset(lineBits - 1, log2Ceil(spec.bytes))

  // What each transfer is to answer: whether a beat was asked for, and by which tag.
  private val busy = RegInit(0.U(slots.W))
  private val wanted = Reg(Vec(slots, Vec(beats, Bool())))
  private val tags = Reg(Vec(slots, Vec(beats, UInt(spec.tagBits.W))))

  // The slot of the next transfer, found in the cycle after the one before it was taken.
  private val free = RegInit(true.B)
  private val slot = RegInit(0.U(LinePort.slotBits(spec).W))

  // A read waits here for a cycle, or until the bus takes it.
  private val getWaits = RegInit(false.B)
  private val get = Reg(new Transfer(spec, memoryBits - lineBits))
  private val asked = Reg(Vec(beats, Bool()))
  private val joins = getWaits && request.follows && !asked(beat)

  // A burst of which beats have left; how much longer the next one is waited for.
  private val putGoesOn = RegInit(false.B)
  private val put = Reg(new Transfer(spec, memoryBits - lineBits))
  private val putBeat = Reg(UInt(log2Ceil(beats).W))
  private val patience = Reg(UInt(2.W))
  // Whether it has begun for the request that still waits, as beats before that one are sent first.
  private val putOfHead = RegInit(false.B)

  private val reads = head.valid && request.inMemory && !request.write
  private val writes = head.valid && request.inMemory && request.write
  private val begins = !putGoesOn && !getWaits && writes && free
  private val place = Mux(putGoesOn, putBeat, 0.U)
  private val burst = Wire(new Transfer(spec, memoryBits - lineBits))
  burst.line := Mux(putGoesOn, put.line, line)
  burst.source := Mux(putGoesOn, put.source, slot)
  private val carries = writes && place === beat && (begins || putGoesOn && (request.follows || putOfHead))
  private val sendsPut = begins || putGoesOn && (carries || patience === 0.U)

  private def addressOf(transfer: Transfer): UInt = memory.base.U | (transfer.line << lineBits)
  bus.a.valid := sendsPut || getWaits && !putGoesOn
  bus.a.bits := edge.Get(get.source, addressOf(get), lineBits.U)._2
  when(sendsPut) {
    // Every beat of a burst is sent; bytes that nobody writes are masked.
    val mask = Mux(carries, request.mask, 0.U)
    bus.a.bits := edge.Put(burst.source, addressOf(burst), lineBits.U, request.data, mask)._2
  }
  private val putLeaves = sendsPut && bus.a.ready
  private val getLeaves = getWaits && !putGoesOn && bus.a.ready

  when(putGoesOn && patience =/= 0.U) { patience := patience - 1.U }
  when(putLeaves) {
    putGoesOn := place =/= (beats - 1).U
    put := burst
    putBeat := place + 1.U
    patience := 3.U
    when(begins) { putOfHead := !carries }
    when(begins) { wanted(slot) := VecInit(Seq.fill(beats)(false.B)) }
  }

  private val beginsGet = reads && !joins && free && (!getWaits || getLeaves)
  when(getLeaves) { getWaits := false.B }
  when(beginsGet) {
    getWaits := true.B
    get.line := line
    get.source := slot
    wanted(slot) := VecInit(Seq.fill(beats)(false.B))
    asked := VecInit(Seq.fill(beats)(false.B))
  }

  private val faults = Module(new Queue(UInt(spec.tagBits.W), 2))
  faults.io.enq.bits := request.tag
  faults.io.enq.valid := head.valid && !request.inMemory

  head.ready := !request.inMemory && faults.io.enq.ready || reads && (joins || beginsGet) || carries && putLeaves
  when(head.fire && request.inMemory) {
    val transfer = Mux(request.write, burst.source, Mux(joins, get.source, slot))
    wanted(transfer)(beat) := true.B
    tags(transfer)(beat) := request.tag
    when(!request.write) { asked(beat) := true.B }
    when(request.write) { putOfHead := false.B }
  }

  // Answers: to a read with its beat; to writes one after the other, when the whole line has been written.
  private val source = bus.d.bits.source
  private val hasData = edge.hasData(bus.d.bits)
  private val (_, last, _, arrived) = edge.count(bus.d)
  private val answered = Mux(hasData, arrived, PriorityEncoder(wanted(source).asUInt))
  private val answers = wanted(source)(answered)
  private val lastAnswer = PopCount(wanted(source).asUInt) <= 1.U
  private val response = Module(new Queue(new MemoryResponse(spec), 1, pipe = true))
  private val answer = response.io.enq
  unit.response <> response.io.deq
  answer.valid := Mux(bus.d.valid, answers, faults.io.deq.valid)
  answer.bits.tag := Mux(bus.d.valid, tags(source)(answered), faults.io.deq.bits)
  answer.bits.data := bus.d.bits.data
  answer.bits.fault := !bus.d.valid || bus.d.bits.denied || bus.d.bits.corrupt
  faults.io.deq.ready := !bus.d.valid && answer.ready
  bus.d.ready := !answers || answer.ready && (hasData || lastAnswer)
  when(bus.d.valid && answers && answer.ready) { wanted(source)(answered) := false.B }

  private def only(which: UInt, when: Bool): UInt = Mux(when, UIntToOH(which, slots), 0.U(slots.W))
  private val taken = only(slot, beginsGet || begins && putLeaves)
  busy := (busy | taken) & (~only(source, bus.d.fire && last)).asUInt
  free := !free && !busy.andR || free && !(beginsGet || begins && putLeaves)
  when(!free) { slot := PriorityEncoder((~busy).asUInt) }

  bus.b.ready := true.B
  bus.c.valid := false.B
  bus.e.valid := false.B
}
