package rackwright.entropy.bits

import chisel3._
import chisel3.util._

import rackwright.access.{BeatRequester, ReservationBuffer}
import rackwright.memory.RegisterFile
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.stream.StreamRange

/** A beat of a range that is read from its end. */
class BackwardBeat(val port: MemoryPortParams) extends Bundle {
  val data = UInt((8 * port.bytes).W)

  /** The range begins here, with the byte at `end` and those below it; the last beat of the range. */
  val first = Bool()
  val end = UInt(port.offsetBits.W)
  val last = Bool()

  /** The beat could not be read. */
  val fault = Bool()
}

/** Reads ranges of memory from their ends, one after the other; the next range is requested before the previous one has
  * been consumed.
  *
  * @param port
  *   shape of the memory port.
  * @param outstanding
  *   beats requested ahead of the consumer; a power of two, at most 2^tagBits.
  */
class BackwardLoader(port: MemoryPortParams, outstanding: Int) extends Module {

  /** A range of at least one byte that does not wrap. */
  val range = IO(Flipped(Decoupled(new StreamRange)))

  /** Abandons all ranges; held until `idle`. */
  val stop = IO(Input(Bool()))
  val beat = IO(Decoupled(new BackwardBeat(port)))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No request is outstanding and no beat is needed. */
  val idle = IO(Output(Bool()))

  private val buffer = Module(new ReservationBuffer(port, outstanding))
  private val marks = RegisterFile(outstanding, new BackwardMark(port))
  private val slotBits = log2Ceil(outstanding)
  private val beatNumberBits = port.addressBits - port.offsetBits
  private val next = Reg(UInt(beatNumberBits.W))
  private val left = Reg(UInt((beatNumberBits + 1).W))

  /** Beats are left: a separate register, because other logic depends on it. */
  private val more = RegInit(false.B)
  private val first = Reg(Bool())
  private val end = Reg(UInt(port.offsetBits.W))
  private val head = RegInit(0.U(slotBits.W))

  private val wants = more && !stop
  memory.request.valid := wants && buffer.reserve.valid
  buffer.reserve.ready := wants && memory.request.ready
  memory.request.bits.read(next << port.offsetBits, buffer.reserve.bits)
  buffer.response <> memory.response
  when(memory.request.fire) {
    val mark = Wire(new BackwardMark(port))
    mark.first := first
    mark.end := end
    mark.last := left === 1.U
    marks.write(buffer.reserve.bits, mark)
    next := next - 1.U
    left := left - 1.U
    more := left =/= 1.U
    first := false.B
  }

  private val lastByte = range.bits.address + (range.bits.length - 1.U)
  range.ready := !more && !stop
  when(range.fire) {
    next := lastByte >> port.offsetBits
    left := BeatRequester.beats(port, range.bits)
    more := true.B
    first := true.B
    end := lastByte
  }

  private val mark = marks.read(head)
  beat.valid := buffer.beat.valid && !stop
  beat.bits.data := buffer.beat.bits.data
  beat.bits.fault := buffer.beat.bits.fault
  beat.bits.first := mark.first
  beat.bits.end := mark.end
  beat.bits.last := mark.last
  buffer.beat.ready := beat.ready && !stop
  when(beat.fire) { head := head + 1.U }

  buffer.clear := stop && buffer.quiet
  when(stop) {
    more := false.B
    head := 0.U
  }
  idle := buffer.quiet && !more
}

/** The properties of a beat at its request. */
class BackwardMark(port: MemoryPortParams) extends Bundle {
  val first = Bool()
  val end = UInt(port.offsetBits.W)
  val last = Bool()
}
