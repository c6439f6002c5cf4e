package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.subsystem.SystemBusKey

import Dialect.{LazyModule, LazyModuleImp, Parameters}

/** From a memory port of a unit to TileLink, a transfer for each cache line.
  *
  * The hub keeps accesses to one line apart, so that two halves of a line, asked for one after the other, would each
  * take as long as memory does. Requests for beats of one line therefore share a transfer: a read as long as the `Get`
  * has not left, a write as long as its burst goes on. Each transfer has a slot, which is its source number and knows
  * the tags of its beats.
  *
  * Requests and answers wait in a register each, which keeps what the unit decides late in a cycle apart from the logic
  * here. Whether a request is about the line of the one before is found when it enters. On a bus that is narrower than
  * the unit's beats, these two registers also have the beat of which the bus moves a part in each cycle.
  *
  * Addresses outside memory are answered with `fault` and go nowhere. There are at most `lines` transfers at once.
  */
class LinePort(spec: MemorySpec, memory: RangeSpec, lineBytes: Int, lines: Int)(implicit p: Parameters)
    extends LazyModule {
  private val slotBits = spec.tagBits.min(log2Ceil(lines))

  /** A beat of the bus that it needs: of the unit's, if the bus is not narrower. */
  val busBytes: Int = spec.bytes.min(p(SystemBusKey).beatBytes)
  val node = Dialect.client(spec.name, 1 << slotBits)

  lazy val module = new LinePortModule(this, spec, memory, lineBytes, slotBits)
}

object LinePort {

  /** As many transfers at once as keep a bus busy, without as many comparisons as a unit has tags. */
  val mostLines = 16
}

/** A line of memory that a transfer is about, and the slot of the transfer. */
class Transfer(val indexBits: Int, val slotBits: Int) extends Bundle {
  val line = UInt(indexBits.W)
  val source = UInt(slotBits.W)
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
class LinePortModule(outer: LinePort, spec: MemorySpec, memory: RangeSpec, lineBytes: Int, slotBits: Int)
    extends LazyModuleImp(outer) {
  val unit = IO(new MemoryPort(spec))

  private val (bus, edge) = outer.node.out.head
  private val busBytes = edge.manager.beatBytes
  require(busBytes <= spec.bytes, s"${spec.name}: a beat of $busBytes bytes")

  private val beats = lineBytes / spec.bytes
  private val lineBits = log2Ceil(lineBytes)
  private val slots = 1 << slotBits

  // A line is so many beats of the bus, of which some are the parts of a beat of the unit.
  private val places = lineBytes / busBytes
  private val parts = spec.bytes / busBytes
  private def partOf(place: UInt): UInt = if (parts == 1) 0.U else place(log2Ceil(parts) - 1, 0)
  private def beatOf(place: UInt): UInt = place >> log2Ceil(parts)
  private def isLast(part: UInt): Bool = part === (parts - 1).U
  private def cut(bits: UInt): Vec[UInt] = {
    val width = bits.getWidth / parts
    VecInit(Seq.tabulate(parts)(part => bits((part + 1) * width - 1, part * width)))
  }

  // Of a unit that only reads, or only writes, the other half of the logic is constant and vanishes.
  private val memoryBits = log2Ceil(memory.size)
  private val waits = RegInit(false.B)
  private val request = Reg(new Waiting(spec, memoryBits))
  private val requestLeaves = Wire(Bool())
  private val entering = Wire(new Waiting(spec, memoryBits))
  private val lineBefore = Reg(UInt((memoryBits - lineBits).W))
  private val writeBefore = Reg(Bool())
  private val inMemoryBefore = RegInit(false.B)
  unit.request.ready := !waits || requestLeaves
  entering.inMemory := (unit.request.bits.address >> memoryBits) === (memory.base >> memoryBits).U
  entering.offset := unit.request.bits.address(memoryBits - 1, 0)
  entering.write := (if (spec.reads && spec.writes) unit.request.bits.write else spec.writes.B)
  entering.data := (if (spec.writes) unit.request.bits.data else 0.U)
  entering.mask := (if (spec.writes) unit.request.bits.mask else 0.U)
  entering.tag := unit.request.bits.tag
  entering.follows := inMemoryBefore && writeBefore === entering.write && lineBefore === (entering.offset >> lineBits)
  when(unit.request.ready) { waits := unit.request.valid }
  when(unit.request.valid && unit.request.ready) {
    request := entering
    lineBefore := entering.offset >> lineBits
    writeBefore := entering.write
    inMemoryBefore := entering.inMemory
  }

  private val line = request.offset >> lineBits
  private val beat = request.offset(lineBits - 1, log2Ceil(spec.bytes))

  // What each transfer is to answer: whether a beat was asked for, and by which tag.
  private val busy = RegInit(0.U(slots.W))
  private val wanted = Reg(Vec(slots, Vec(beats, Bool())))
  private val tags = Reg(Vec(slots, Vec(beats, UInt(spec.tagBits.W))))

  // The slot of the next transfer, found in the cycle after the one before it was taken.
  private val free = RegInit(true.B)
  private val slot = RegInit(0.U(slotBits.W))

  // A read waits here for a cycle, or until the bus takes it.
  private val getWaits = RegInit(false.B)
  private val get = Reg(new Transfer(memoryBits - lineBits, slotBits))
  private val asked = Reg(Vec(beats, Bool()))
  private val joins = getWaits && request.follows && !asked(beat)

  // A burst that has begun, and what leaves next of its line; how much longer the next beat is waited for.
  private val putGoesOn = RegInit(false.B)
  private val put = Reg(new Transfer(memoryBits - lineBits, slotBits))
  private val place = RegInit(0.U(log2Ceil(places).W))
  private val part = partOf(place)
  private val patience = Reg(UInt(2.W))
  // Whether it has begun for the request that still waits, as beats before that one are sent first.
  private val putOfHead = RegInit(false.B)
  // Whether the parts of the beat that have left were those of the request: the others have to be, too, or not.
  private val carried = RegInit(true.B)

  private val reads = waits && request.inMemory && !request.write
  private val writes = waits && request.inMemory && request.write
  private val begins = !putGoesOn && !getWaits && writes && free
  private val burst = Wire(new Transfer(memoryBits - lineBits, slotBits))
  burst.line := Mux(putGoesOn, put.line, line)
  burst.source := Mux(putGoesOn, put.source, slot)
  private val carries = writes && carried && beatOf(place) === beat &&
    (begins || putGoesOn && (request.follows || putOfHead))
  private val sendsPut = begins || putGoesOn && (carries || part =/= 0.U || patience === 0.U)

  private def addressOf(transfer: Transfer): UInt = memory.base.U | (transfer.line << lineBits)
  bus.a.valid := sendsPut || getWaits && !putGoesOn
  bus.a.bits := edge.Get(get.source, addressOf(get), lineBits.U)._2
  when(sendsPut) {
    // Every beat of a burst is sent; bytes that nobody writes are masked.
    val mask = Mux(carries, cut(request.mask)(part), 0.U)
    bus.a.bits := edge.Put(burst.source, addressOf(burst), lineBits.U, cut(request.data)(part), mask)._2
  }
  private val putLeaves = sendsPut && bus.a.ready
  private val getLeaves = getWaits && !putGoesOn && bus.a.ready

  when(putGoesOn && patience =/= 0.U) { patience := patience - 1.U }
  when(putLeaves) {
    putGoesOn := place =/= (places - 1).U
    put := burst
    place := place + 1.U
    carried := carries || isLast(part)
    when(part === 0.U) { patience := 3.U }
    when(begins) { putOfHead := true.B }
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

  private val faults = Module(new Queue(UInt(spec.tagBits.W), 1))
  faults.io.enq.bits := request.tag
  faults.io.enq.valid := waits && !request.inMemory

  private val isPut = carries && putLeaves && isLast(part)
  private val isGot = reads && (joins || beginsGet)
  requestLeaves := waits && !request.inMemory && faults.io.enq.ready || isGot || isPut
  when(isGot || isPut) {
    val transfer = Mux(request.write, burst.source, Mux(joins, get.source, slot))
    wanted(transfer)(beat) := true.B
    tags(transfer)(beat) := request.tag
  }
  when(isGot) { asked(beat) := true.B }
  when(isPut) { putOfHead := false.B }

  // Answers: to a read with its beat; to writes one after the other, when the whole line has been written.
  private val source = bus.d.bits.source
  private val hasData = if (spec.reads && spec.writes) edge.hasData(bus.d.bits) else spec.reads.B
  private val (_, last, _, arrived) = edge.count(bus.d)
  private val arrivedPart = partOf(arrived)
  private val answered = Mux(hasData, beatOf(arrived), PriorityEncoder(wanted(source).asUInt))
  private val answers = wanted(source)(answered)
  private val complete = !hasData || isLast(arrivedPart)
  private val lastAnswer = PopCount(wanted(source).asUInt) <= 1.U

  private val answering = RegInit(false.B)
  private val answer = Reg(new MemoryResponse(spec))
  private val data = Reg(Vec(parts, UInt((8 * busBytes).W)))
  private val broken = Reg(Bool())
  private val breaks = bus.d.bits.denied || bus.d.bits.corrupt || arrivedPart =/= 0.U && broken
  private val room = !answering || unit.response.ready
  unit.response.valid := answering
  unit.response.bits := answer
  unit.response.bits.data := (if (spec.reads) data.asUInt else 0.U)
  when(room) {
    answering := Mux(bus.d.valid, answers && complete, faults.io.deq.valid)
    answer.tag := Mux(bus.d.valid, tags(source)(answered), faults.io.deq.bits)
    answer.fault := !bus.d.valid || breaks
    when(bus.d.valid && answers) {
      broken := breaks
      data(arrivedPart) := bus.d.bits.data
    }
  }
  faults.io.deq.ready := !bus.d.valid && room
  bus.d.ready := !answers || room && (hasData || lastAnswer)
  when(bus.d.valid && answers && complete && room) { wanted(source)(answered) := false.B }

  private def only(which: UInt, when: Bool): UInt = Mux(when, UIntToOH(which, slots), 0.U(slots.W))
  private val taken = only(slot, beginsGet || begins && putLeaves)
  busy := (busy | taken) & (~only(source, bus.d.fire && last)).asUInt
  free := !free && !busy.andR || free && !(beginsGet || begins && putLeaves)
  when(!free) { slot := PriorityEncoder((~busy).asUInt) }
}
