package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPortParams
import rackwright.stream.ByteChunk

/** A beat to write: the bytes named by `mask`. */
class WriteBeat(port: MemoryPortParams) extends Bundle {
  val address = UInt(port.addressBits.W)
  val data = UInt((8 * port.bytes).W)
  val mask = UInt(port.bytes.W)
}

/** Fills beats with chunks and emits each when it is full, or when it is told that there are no more.
  *
  * Three stages: limiting to the range; rotation of the chunk to its position in the beat; the beat. No stage stalls,
  * because full beats have room in a queue. Bytes beyond the capacity are dropped in the first stage, so that later
  * stages cannot write outside the range.
  */
class BeatCoalescer(port: MemoryPortParams, chunkBytes: Int) extends Module {
  require(chunkBytes <= port.bytes, s"a chunk of $chunkBytes bytes is more than a beat of ${port.bytes}")
  private val bytes = port.bytes
  private val waitingBeats = 8
  private val beatsUnderWay = 5

  /** A new range; nothing of the previous one may be left. */
  val start = IO(Flipped(Valid(new WriterRange)))

  /** Bytes to write. */
  val chunk = IO(Flipped(Decoupled(new ByteChunk(chunkBytes))))

  /** Passes on the partial beat; held until `flushed`, while no chunk is offered. */
  val flush = IO(Input(Bool()))

  /** Beats in order of address, each with a byte to write. */
  val beat = IO(Decoupled(new WriteBeat(port)))

  /** All bytes, including the partial beat, have been passed on. */
  val flushed = IO(Output(Bool()))

  /** Bytes beyond the capacity were dropped. */
  val overflow = IO(Output(Bool()))

  /** Bytes taken into the range. */
  val written = IO(Output(UInt(64.W)))

  private val full = Module(new Queue(new OutputLine(bytes), waitingBeats))
  chunk.ready := RegNext(full.io.count <= (waitingBeats - beatsUnderWay).U, false.B)

  // First stage: limiting to the range.
  private val room = RegInit(0.U(64.W))
  private val dropped = RegInit(false.B)
  private val left = room -& chunk.bits.count
  private val fits = !left(64)
  when(chunk.fire) {
    room := Mux(fits, left(63, 0), 0.U)
    when(!fits) { dropped := true.B }
  }

  // Second stage: the place in the beat.
  private val turning = RegNext(chunk.fire, false.B)
  private val taken = RegEnable(Mux(fits, chunk.bits.count, room(chunk.bits.count.getWidth - 1, 0)), chunk.fire)
  private val data = RegEnable(chunk.bits.data.asUInt.pad(8 * bytes), chunk.fire)
  private val end = Reg(UInt(port.offsetBits.W))
  private val total = end +& taken
  private val count = RegInit(0.U(64.W))
  when(turning) {
    end := total
    count := count + taken
  }

  // Third stage: the beat. Its bytes from the end of the chunk on are filled by later chunks.
  private val joining = RegNext(turning, false.B)
  private val turned = RegEnable(turn(data, end), turning)
  private val earlier = RegEnable(below(end), turning)
  private val fills = RegEnable(total >= bytes.U, turning)
  private val partial = Reg(UInt((8 * bytes).W))
  private val joined = Cat((0 until bytes).reverse.map(i => Mux(earlier(i), byte(partial, i), byte(turned, i))))
  private val begin = Reg(UInt(port.offsetBits.W))
  when(joining) { partial := Mux(fills, turned, joined) }

  private val idle = !chunk.valid && !turning && !joining
  private val emitted = RegInit(false.B)
  private val closing = flush && idle && !emitted
  full.io.enq.valid := (joining && fills) || (closing && begin =/= end)
  full.io.enq.bits.data := Mux(joining, joined, partial)
  full.io.enq.bits.mask := ~below(begin) & Mux(joining, Fill(bytes, 1.U(1.W)), below(end))
  assert(!(joining && fills) || full.io.enq.ready, "a beat has no place")
  when(full.io.enq.fire) { begin := 0.U }
  when(closing && (full.io.enq.ready || begin === end)) { emitted := true.B }

  private val beatNumber = Reg(UInt((port.addressBits - port.offsetBits).W))
  beat.valid := full.io.deq.valid
  full.io.deq.ready := beat.ready
  beat.bits.address := beatNumber << port.offsetBits
  beat.bits.data := full.io.deq.bits.data
  beat.bits.mask := full.io.deq.bits.mask
  when(beat.fire) { beatNumber := beatNumber + 1.U }

  flushed := flush && emitted && full.io.count === 0.U
  overflow := dropped
  written := count

  when(start.valid) {
    beatNumber := start.bits.address(port.addressBits - 1, port.offsetBits)
    begin := start.bits.address(port.offsetBits - 1, 0)
    end := start.bits.address(port.offsetBits - 1, 0)
    room := start.bits.capacity
    count := 0.U
    dropped := false.B
    emitted := false.B
  }

  private def byte(line: UInt, i: Int): UInt = line(8 * i + 7, 8 * i)

  /** A bit per byte, ones below byte `end`. */
  private def below(end: UInt): UInt = Cat((0 until bytes).reverse.map(i => end > i.U))

  /** Byte i moves to byte i + `by`, around the end of the beat. */
  private def turn(line: UInt, by: UInt): UInt =
    (Cat(line, line) << Cat(by, 0.U(3.W)))(16 * bytes - 1, 8 * bytes)
}
