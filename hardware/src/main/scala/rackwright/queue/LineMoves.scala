package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** Elements of 8 bytes that follow each other in a line. */
class LinePart extends Bundle {

  /** The line's number in memory, the position of the first element in it, and their number. */
  val line = UInt(58.W)
  val offset = UInt(3.W)
  val count = UInt(4.W)
}

/** Several lines are moved at a time, each by two beats. */
object LineMoves {

  /** Lines in progress. */
  val slots: Int = 4
  val port: MemoryPortParams = MemoryPortParams(32, log2Ceil(2 * slots))
}

/** Reads parts of lines, several at a time, and outputs their elements in the order of the requests. */
class LineReader extends Module {
  import LineMoves.slots

  val part = IO(Flipped(Decoupled(new LinePart)))
  val out = IO(Decoupled(new QueueElements))
  val memory = IO(new MemoryPort(LineMoves.port))

  /** In this cycle, memory refuses an access. */
  val fault = IO(Output(Bool()))

  /** Drops what has been read, while `settled`. */
  val clear = IO(Input(Bool()))

  /** No access is in progress; no line is held; no further one can be. */
  val settled, empty, full = IO(Output(Bool()))

  private val busy = RegInit(VecInit.fill(slots)(false.B))
  private val got = RegInit(VecInit.fill(slots)(0.U(2.W)))
  private val parts = Reg(Vec(slots, new LinePart))
  private val beats = Reg(Vec(slots, Vec(2, UInt(256.W))))
  private val head, tail = RegInit(0.U(log2Ceil(slots).W))

  // Beats of the newest part that are still to be requested.
  private val asks = RegInit(0.U(2.W))
  private val asked = tail - 1.U
  private val isSecond = asks === 1.U
  part.ready := !busy(tail) && asks === 0.U
  when(part.fire) {
    busy(tail) := true.B
    parts(tail) := part.bits
    tail := tail + 1.U
    asks := 2.U
  }
  memory.request.valid := asks =/= 0.U
  memory.request.bits.read(parts(asked).line ## isSecond ## 0.U(5.W), asked ## isSecond)
  when(memory.request.fire) { asks := asks - 1.U }

  private val from = memory.response.bits.tag >> 1
  private val beat = memory.response.bits.tag(0)
  memory.response.ready := true.B
  when(memory.response.valid) {
    got(from) := got(from) | UIntToOH(beat, 2)
    beats(from)(beat) := memory.response.bits.data
  }
  fault := memory.response.valid && memory.response.bits.fault

  out.valid := busy(head) && got(head).andR
  out.bits.data := beats(head).asUInt >> (parts(head).offset ## 0.U(6.W))
  out.bits.count := parts(head).count
  when(out.fire || clear) {
    busy(head) := false.B
    got(head) := 0.U
    head := head + 1.U
  }
  when(clear) {
    busy.foreach(_ := false.B)
    got.foreach(_ := 0.U)
    head := tail
  }
  settled := asks === 0.U && busy.zip(got).map { case (used, both) => !used || both.andR }.reduce(_ && _)
  empty := !busy.reduce(_ || _)
  full := busy.reduce(_ && _)
  assert(!memory.response.valid || busy(from) && !got(from)(beat), "memory answers what it was not asked")
}

/** Writes parts of lines, several at a time, and reports them in the order of the requests. */
class LineWriter extends Module {
  import LineMoves.slots

  val part = IO(Flipped(Decoupled(new LinePart)))

  /** The elements of `part`, the first one in the low bits. */
  val data = IO(Input(UInt(512.W)))
  val memory = IO(new MemoryPort(LineMoves.port))

  /** In this cycle, memory has acknowledged the oldest part: its number of elements. */
  val written = IO(Valid(UInt(4.W)))

  /** In this cycle, memory refuses an access. */
  val fault = IO(Output(Bool()))

  /** No part is in progress. */
  val empty = IO(Output(Bool()))

  private val busy = RegInit(VecInit.fill(slots)(false.B))
  private val missing = Reg(Vec(slots, UInt(2.W)))
  private val counts = Reg(Vec(slots, UInt(4.W)))
  private val head, tail = RegInit(0.U(log2Ceil(slots).W))

  // The newest part, and its beats that are still to be requested.
  private val asks = RegInit(0.U(2.W))
  private val line = Reg(UInt(58.W))
  private val words = Reg(UInt(512.W))
  private val mask = Reg(UInt(8.W))
  private val asked = tail - 1.U
  private val isSecond = !asks(0)
  private val places = (((1.U << part.bits.count) - 1.U)(7, 0) << part.bits.offset)(7, 0)
  private val touched = places(7, 4).orR ## places(3, 0).orR
  part.ready := !busy(tail) && asks === 0.U
  when(part.fire) {
    busy(tail) := true.B
    missing(tail) := touched
    counts(tail) := part.bits.count
    tail := tail + 1.U
    asks := touched
    line := part.bits.line
    words := data << (part.bits.offset ## 0.U(6.W))
    mask := places
  }
  memory.request.valid := asks =/= 0.U
  memory.request.bits.address := line ## isSecond ## 0.U(5.W)
  memory.request.bits.write := true.B
  memory.request.bits.tag := asked ## isSecond
  memory.request.bits.data := Mux(isSecond, words(511, 256), words(255, 0))
  memory.request.bits.mask := FillInterleaved(8, Mux(isSecond, mask(7, 4), mask(3, 0)))
  when(memory.request.fire) { asks := Mux(isSecond, 0.U, asks & 2.U) }

  private val from = memory.response.bits.tag >> 1
  private val beat = memory.response.bits.tag(0)
  memory.response.ready := true.B
  when(memory.response.valid) { missing(from) := missing(from) & ~UIntToOH(beat, 2) }
  fault := memory.response.valid && memory.response.bits.fault

  written.valid := busy(head) && missing(head) === 0.U
  written.bits := counts(head)
  when(written.valid) {
    busy(head) := false.B
    head := head + 1.U
  }
  empty := !busy.reduce(_ || _)
  assert(!memory.response.valid || busy(from) && missing(from)(beat), "memory answers what it was not asked")
}
