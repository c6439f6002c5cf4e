package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.access.TagAllocator
import rackwright.memory.RegisterFile
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.protobuf.table.DescriptorTable
import rackwright.stream.SkidBuffer

/** A write-combining buffer that also tracks the outstanding writes of each request.
  *
  * A store is merged into the buffered beat of its address, if there is one, or else allocates a new one. Beats are
  * written in order when the buffer fills, or on `drain`. As memory may answer in any order, a beat waits while another
  * write to the same address is outstanding.
  *
  * Requests rotate through several groups of writes, so that one may start while writes of earlier ones are
  * outstanding.
  *
  * @param lines
  *   capacity in beats: a power of two.
  * @param outstanding
  *   maximum number of outstanding writes: a power of two.
  */
class DeserializerStores(port: MemoryPortParams, lines: Int, outstanding: Int) extends Module {
  import ProtobufCompleter.groups
  private val turnBits = log2Ceil(groups)
  private val lineNumberBits = DescriptorTable.addressBits - port.offsetBits
  private val countBits = log2Ceil(lines + outstanding + 3)

  /** A store, for the group `turn`. */
  val store = IO(Flipped(Decoupled(new Store(port))))
  val turn = IO(Input(UInt(turnBits.W)))

  /** A whole beat without hazards: it bypasses the buffer, so that partly filled beats may stay. */
  val beat = IO(Flipped(Decoupled(new Beat(port))))

  /** Write out all buffered beats. */
  val drain = IO(Input(Bool()))

  /** No store of a group is buffered or outstanding. */
  val quiet = IO(Output(Vec(groups, Bool())))

  /** A write of the group was answered with a fault since `clear`. */
  val faulted = IO(Output(Vec(groups, Bool())))
  val clear = IO(Input(Vec(groups, Bool())))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  private class Line extends Bundle {
    val number = UInt(lineNumberBits.W)
    val data = UInt((8 * port.bytes).W)
    val mask = UInt(port.bytes.W)
    val alone = Bool()
    val turn = UInt(turnBits.W)
  }

  private val waiting = Reg(Vec(lines, new Line))
  private val head = RegInit(0.U(log2Ceil(lines).W))
  private val tail = RegInit(0.U(log2Ceil(lines).W))
  private val held = RegInit(0.U(lines.W))
  private val count = RegInit(0.U(log2Ceil(lines + 1).W))

  // Stores are registered, together with their group.
  private class Given extends Bundle {
    val store = new Store(port)
    val turn = UInt(turnBits.W)
  }
  private val arriving = Wire(Decoupled(new Given))
  arriving.valid := store.valid
  arriving.bits.store := store.bits
  arriving.bits.turn := turn
  store.ready := arriving.ready
  private val entering = SkidBuffer(arriving)
  private val now = entering.bits.store

  private val number = now.address >> port.offsetBits
  private val matches = VecInit(
    waiting.zipWithIndex.map { case (line, i) => held(i) && line.number === number && line.turn === entering.bits.turn }
  ).asUInt
  private val merges = matches.orR
  private val full = count === lines.U

  // A line that is being filled stays.
  private val leaving = Wire(Decoupled(new Line))
  private val wants = drain || count >= (lines - 2).U || waiting(head).turn =/= turn
  leaving.valid := count =/= 0.U && wants && !(entering.valid && matches(head))
  leaving.bits := waiting(head)

  private val passing = Wire(Decoupled(new Line))
  passing.valid := beat.valid
  passing.bits.number := beat.bits.address >> port.offsetBits
  passing.bits.data := beat.bits.data
  passing.bits.mask := Fill(port.bytes, 1.U(1.W))
  passing.bits.alone := true.B
  passing.bits.turn := turn
  beat.ready := passing.ready

  entering.ready := merges || !full
  private val enters = entering.fire && !merges
  private val bitMask = Cat((0 until port.bytes).reverse.map(i => Fill(8, now.mask(i))))
  for ((line, i) <- waiting.zipWithIndex) {
    when(entering.fire && matches(i)) {
      line.data := (line.data & ~bitMask) | (now.data & bitMask)
      line.mask := line.mask | now.mask
      line.alone := line.alone && now.alone
    }.elsewhen(enters && tail === i.U) {
      line.number := number
      line.data := now.data
      line.mask := now.mask
      line.alone := now.alone
      line.turn := entering.bits.turn
    }
  }
  when(enters) { tail := tail + 1.U }
  when(leaving.fire) { head := head + 1.U }
  count := count + enters - leaving.fire
  held := (held | Mux(enters, UIntToOH(tail, lines), 0.U)) & ~Mux(leaving.fire, UIntToOH(head, lines), 0.U)

  // A line waits while a write to its beat is outstanding or about to start; bypassing beats do not wait for it. This
  // is determined in the first cycle of the line: after that, the hazard can only disappear.
  private val filled = Queue(leaving, 2)
  private val free = Wire(Decoupled(new Line))
  private val freed = Queue(free, 1, pipe = true)
  private val hazards = Module(new WriteHazards(lineNumberBits, outstanding))
  private val isNext = freed.valid && !freed.bits.alone && freed.bits.number === filled.bits.number
  private val looked = RegNext(filled.valid && !filled.fire, false.B)
  private val busy = RegNext(hazards.busy || isNext)
  private val goes = filled.valid && (filled.bits.alone || (looked && !busy))
  free.valid := goes
  free.bits := filled.bits
  filled.ready := goes && free.ready
  private val leavers = Module(new Arbiter(new Line, 2))
  leavers.io.in(0) <> freed
  leavers.io.in(1) <> Queue(passing, 2)
  private val next = leavers.io.out

  private val tags = Module(new TagAllocator(outstanding))
  hazards.number := filled.bits.number
  hazards.begun := freed.bits.number
  hazards.tag := tags.allocate.bits
  hazards.begin := memory.request.fire && !next.bits.alone
  private val turnOfTag = RegisterFile(outstanding, UInt(turnBits.W))

  memory.request.valid := next.valid && tags.allocate.valid
  memory.request.bits.address := Cat(next.bits.number, 0.U(port.offsetBits.W))
  memory.request.bits.write := true.B
  memory.request.bits.data := next.bits.data
  memory.request.bits.mask := next.bits.mask
  memory.request.bits.tag := tags.allocate.bits
  memory.response.ready := true.B
  next.ready := memory.request.ready && tags.allocate.valid
  tags.allocate.ready := memory.request.ready && next.valid

  private val answer = memory.response
  private val answeredTag = answer.bits.tag(log2Ceil(outstanding) - 1, 0)
  tags.free.valid := answer.valid
  tags.free.bits := answeredTag
  hazards.end.valid := answer.valid
  hazards.end.bits := answeredTag
  when(memory.request.fire) { turnOfTag.write(tags.allocate.bits, next.bits.turn) }

  private val unfinished = RegInit(VecInit.fill(groups)(0.U(countBits.W)))
  private val faults = RegInit(VecInit.fill(groups)(false.B))
  private val answeredTurn = turnOfTag.read(answeredTag)
  for (group <- 0 until groups) {
    val begins = (enters && entering.bits.turn === group.U) +& (beat.fire && turn === group.U)
    val ends = answer.valid && answeredTurn === group.U
    unfinished(group) := unfinished(group) + begins - ends
    when(ends && answer.bits.fault) { faults(group) := true.B }
    when(clear(group)) { faults(group) := false.B }
    quiet(group) := unfinished(group) === 0.U && !(entering.valid && entering.bits.turn === group.U)
  }
  faulted := faults
}
