package rackwright.memory

import chisel3._
import chisel3.util._

/** A beat to write: the bytes named by `mask`. */
class WriteBeat(port: MemoryPortParams) extends Bundle {
  val address = UInt(port.addressBits.W)
  val data = UInt((8 * port.bytes).W)
  val mask = UInt(port.bytes.W)
}

/** Fills beats with chunks and emits each when it is full, or when told that there are no more.
  *
  * Bytes beyond the capacity are dropped here, so nothing that comes later can write outside the range.
  */
class BeatCoalescer(port: MemoryPortParams, chunkBytes: Int) extends Module {
  require(chunkBytes <= port.bytes, s"a chunk of $chunkBytes bytes is more than a beat of ${port.bytes}")

  /** A new range; nothing may be left of the one before. */
  val start = IO(Flipped(Valid(new WriterRange)))

  /** Bytes to write. */
  val chunk = IO(Flipped(Decoupled(new ByteChunk(chunkBytes))))

  /** Hand on the partial beat; no chunk is offered. */
  val flush = IO(Input(Bool()))

  /** Beats in order of address, each with a byte to write. */
  val beat = IO(Decoupled(new WriteBeat(port)))

  /** The partial beat, if there was one, has been handed on in this cycle. */
  val flushed = IO(Output(Bool()))

  /** Bytes beyond the capacity were dropped. */
  val overflow = IO(Output(Bool()))

  /** Bytes taken into the range. */
  val written = IO(Output(UInt(64.W)))

  private val beatNumber = Reg(UInt((port.addressBits - port.offsetBits).W))
  private val partial = Reg(UInt((8 * port.bytes).W))
  private val begin = Reg(UInt(port.offsetBits.W))
  private val end = Reg(UInt(port.offsetBits.W))
  private val room = RegInit(0.U(64.W))
  private val count = RegInit(0.U(64.W))
  private val dropped = RegInit(false.B)

  private val fits = chunk.bits.count <= room
  private val taken = Mux(fits, chunk.bits.count, room(chunk.bits.count.getWidth - 1, 0))
  private val total = end +& taken
  private val fills = total >= port.bytes.U

  // Bytes above `end` in `partial` are leftovers of the last chunk and not wanted: they are cleared as they are made.
  private val placed = chunk.bits.data.asUInt << Cat(end, 0.U(3.W))
  private val merged = (placed | partial).pad(16 * port.bytes)

  chunk.ready := !fills || beat.ready
  private val allLanes = Fill(port.bytes, 1.U(1.W))
  private val partialMask = (1.U << end) - 1.U
  private val leading = (1.U << begin) - 1.U
  private val hasPartial = begin =/= end
  beat.valid := (chunk.valid && fills) || (flush && hasPartial)
  beat.bits.address := beatNumber << port.offsetBits
  beat.bits.data := Mux(chunk.valid, merged(8 * port.bytes - 1, 0), partial)
  beat.bits.mask := Mux(chunk.valid, allLanes, partialMask(port.bytes - 1, 0)) & ~leading(port.bytes - 1, 0)
  flushed := flush && (!hasPartial || beat.ready)
  overflow := dropped
  written := count

  private val remainder = total(port.offsetBits - 1, 0)
  private def keepBelow(value: UInt, bytes: UInt): UInt =
    value & ~(Fill(8 * port.bytes, 1.U(1.W)) << Cat(bytes, 0.U(3.W)))(8 * port.bytes - 1, 0)
  when(chunk.fire) {
    val (inBeat, beyond) = (merged(8 * port.bytes - 1, 0), merged(16 * port.bytes - 1, 8 * port.bytes))
    partial := keepBelow(Mux(fills, beyond, inBeat), remainder)
    end := remainder
    room := room - taken
    count := count + taken
    when(!fits) { dropped := true.B }
  }
  when(beat.fire) {
    beatNumber := beatNumber + 1.U
    begin := 0.U
  }
  when(start.valid) {
    beatNumber := start.bits.address(port.addressBits - 1, port.offsetBits)
    partial := 0.U
    begin := start.bits.address(port.offsetBits - 1, 0)
    end := start.bits.address(port.offsetBits - 1, 0)
    room := start.bits.capacity
    count := 0.U
    dropped := false.B
  }
}
