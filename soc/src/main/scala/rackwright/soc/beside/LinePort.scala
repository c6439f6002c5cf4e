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

/** A line that a transfer is about, and the slot of the transfer. */
class Transfer(val spec: MemorySpec, val lineBits: Int) extends Bundle {
  val line = UInt((spec.addressBits - lineBits).W)
  val source = UInt(LinePort.slotBits(spec).W)
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

  private val request = unit.request.bits
  private val line = request.address >> lineBits
  private val beat = request.address(lineBits - 1, log2Ceil(spec.bytes))
  private val memoryBits = log2Ceil(memory.size)
  private val inMemory = (request.address >> memoryBits) === (memory.base >> memoryBits).U

  // What each transfer is to answer: whether a beat was asked for, and by which tag.
  private val busy = RegInit(0.U(slots.W))
  private val wanted = Reg(Vec(slots, Vec(beats, Bool())))
  private val tags = Reg(Vec(slots, Vec(beats, UInt(spec.tagBits.W))))

  // The slot of the next transfer, found in the cycle before.
  private val free = RegInit(true.B)
  private val slot = RegInit(0.U(LinePort.slotBits(spec).W))

  // A read waits here for a cycle, or until the bus takes it.
  private val getWaits = RegInit(false.B)
  private val get = Reg(new Transfer(spec, lineBits))
  private val joins = getWaits && get.line === line && !wanted(get.source)(beat)

  // A burst of which beats have left; how much longer the next one is waited for.
  private val putGoesOn = RegInit(false.B)
  private val put = Reg(new Transfer(spec, lineBits))
  private val putBeat = Reg(UInt(log2Ceil(beats).W))
  private val patience = Reg(UInt(2.W))

  private val reads = unit.request.valid && inMemory && !request.write
  private val writes = unit.request.valid && inMemory && request.write
  private val begins = !putGoesOn && !getWaits && writes && free
  private val place = Mux(putGoesOn, putBeat, 0.U)
  private val burst = Wire(new Transfer(spec, lineBits))
  burst.line := Mux(putGoesOn, put.line, line)
  burst.source := Mux(putGoesOn, put.source, slot)
  private val carries = writes && burst.line === line && place === beat
  private val sendsPut = begins || putGoesOn && (carries || patience === 0.U)

  private def addressOf(transfer: Transfer): UInt = transfer.line << lineBits
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
    when(begins) { wanted(slot) := VecInit(Seq.fill(beats)(false.B)) }
  }

  private val beginsGet = reads && !joins && free && (!getWaits || getLeaves)
  when(getLeaves) { getWaits := false.B }
  when(beginsGet) {
    getWaits := true.B
    get.line := line
    get.source := slot
    wanted(slot) := VecInit(Seq.fill(beats)(false.B))
  }

  private val faults = Module(new Queue(UInt(spec.tagBits.W), 2))
  faults.io.enq.bits := request.tag
  faults.io.enq.valid := unit.request.valid && !inMemory

  unit.request.ready := !inMemory && faults.io.enq.ready || reads && (joins || beginsGet) || carries && putLeaves
  when(unit.request.fire && inMemory) {
    val transfer = Mux(request.write, burst.source, Mux(joins, get.source, slot))
    wanted(transfer)(beat) := true.B
    tags(transfer)(beat) := request.tag
  }

  // Answers: to a read with its beat; to writes one after the other, when the whole line has been written.
  private val source = bus.d.bits.source
  private val hasData = edge.hasData(bus.d.bits)
  private val (_, last, _, arrived) = edge.count(bus.d)
  private val answered = Mux(hasData, arrived, PriorityEncoder(wanted(source).asUInt))
  private val answers = wanted(source)(answered)
  private val lastAnswer = PopCount(wanted(source).asUInt) <= 1.U
  unit.response.valid := Mux(bus.d.valid, answers, faults.io.deq.valid)
  unit.response.bits.tag := Mux(bus.d.valid, tags(source)(answered), faults.io.deq.bits)
  unit.response.bits.data := bus.d.bits.data
  unit.response.bits.fault := !bus.d.valid || bus.d.bits.denied || bus.d.bits.corrupt
  faults.io.deq.ready := !bus.d.valid && unit.response.ready
  bus.d.ready := !answers || unit.response.ready && (hasData || lastAnswer)
  when(bus.d.valid && answers && unit.response.ready) { wanted(source)(answered) := false.B }

  private def only(which: UInt, when: Bool): UInt = Mux(when, UIntToOH(which, slots), 0.U(slots.W))
  private val taken = only(slot, beginsGet || begins && putLeaves)
  private val occupied = (busy | taken) & (~only(source, bus.d.fire && last)).asUInt
  busy := occupied
  free := !occupied.andR
  slot := PriorityEncoder((~occupied).asUInt)

  bus.b.ready := true.B
  bus.c.valid := false.B
  bus.e.valid := false.B
}
