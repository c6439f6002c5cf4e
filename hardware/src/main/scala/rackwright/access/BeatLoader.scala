package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.stream.StreamRange

/** A beat of a range, in memory order: byte 0 has the lowest address. */
class RangeBeat(val port: MemoryPortParams) extends Bundle {
  val data = UInt((8 * port.bytes).W)

  /** The bytes of the range end before this byte, 1 to a whole beat; 0 if the beat could not be read. */
  val end = UInt(log2Ceil(port.bytes + 1).W)

  /** The range ends in this beat. */
  val last = Bool()

  /** The beat could not be read; no further one follows. */
  val fault = Bool()
}

/** Reads a range of memory and offers its beats in order, not aligned: the first byte of the range is at its offset in
  * the first beat. For consumers that align bytes themselves; [[StreamLoader]] aligns them.
  *
  * A range without bytes yields no beat. A range that cannot be read at all yields one beat, a fault.
  *
  * @param port
  *   shape of the memory port.
  * @param outstanding
  *   beats requested ahead of the consumer; a power of two, at most 2^tagBits.
  */
class BeatLoader(port: MemoryPortParams, outstanding: Int) extends Module {

  /** The range to read; taken when the one before is consumed or stopped and all its beats have been answered. */
  val range = IO(Flipped(Decoupled(new StreamRange)))

  /** Give up the range: its outstanding beats are awaited and dropped. */
  val stop = IO(Input(Bool()))
  val beat = IO(Decoupled(new RangeBeat(port)))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No beat is left to offer and none is outstanding. */
  val idle = IO(Output(Bool()))

  private val requester = Module(new BeatRequester(port, outstanding))
  private val buffer = Module(new ReorderBuffer(port, outstanding))
  private val beatNumberBits = port.addressBits - port.offsetBits

  /** The next beat, the last one, and the end of the range in it; for a range that begins in the next cycle. */
  private val active = RegInit(false.B)
  private val refused = RegInit(false.B)
  private val left = Reg(UInt((beatNumberBits + 1).W))
  private val single = Reg(Bool())
  private val end = Reg(UInt(port.offsetBits.W))

  private val start = range.fire

  // Known a cycle late, when no request has been sent yet.
  private val wraps = Ranges.wraps(range.bits.address, range.bits.length, port.addressBits)
  private val unreadable = RegNext(start && wraps, false.B)
  requester.start.valid := start
  requester.start.bits := range.bits
  requester.stop := stop || unreadable
  requester.reserve <> buffer.reserve
  memory.request <> requester.request
  buffer.clear := start
  buffer.response <> memory.response

  private val whole = end === 0.U
  beat.valid := active && (buffer.beat.valid || refused)
  beat.bits.data := buffer.beat.bits.data
  beat.bits.fault := refused || buffer.beat.bits.fault
  beat.bits.last := single && !beat.bits.fault
  beat.bits.end := Mux(
    beat.bits.fault,
    0.U,
    Mux(single && !whole, end, port.bytes.U(beat.bits.end.getWidth.W))
  )
  buffer.beat.ready := beat.ready && active

  when(beat.fire) {
    left := left - 1.U
    single := left === 2.U
    when(single || beat.bits.fault) { active := false.B }
  }
  when(unreadable) { refused := true.B }
  when(start) {
    val beats = BeatRequester.beats(port, range.bits)
    active := range.bits.length =/= 0.U
    refused := false.B
    left := beats
    single := beats === 1.U
    end := range.bits.address + range.bits.length
  }
  when(stop) { active := false.B }

  range.ready := buffer.quiet && !active && !stop
  idle := buffer.quiet && !active
}
