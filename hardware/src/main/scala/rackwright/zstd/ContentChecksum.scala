package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.lz77.Lines
import rackwright.memory.OutputLine

/** XXH64 of a frame's content, from the lines on their way to memory. A line of 32 bytes every second cycle.
  *
  * Lines are as they stand in memory; [[StripeAligner]] makes stripes of them, four [[Xxh64Lane]]s take those, and
  * [[Xxh64Ending]] the rest and the lanes.
  *
  * @param bytes
  *   bytes of a line, 16 or 32.
  */
class ContentChecksum(bytes: Int) extends Module {

  /** A frame begins; its first byte is at this byte of the first line. */
  val start = IO(Flipped(Valid(UInt(log2Ceil(bytes).W))))
  val line = IO(Flipped(Decoupled(new OutputLine(bytes))))

  /** All lines of the frame have been given, held until `done`; bytes of the frame. */
  val finish = IO(Input(Bool()))
  val length = IO(Input(UInt(64.W)))

  /** The lower half of the hash is there. */
  val done = IO(Output(Bool()))
  val value = IO(Output(UInt(32.W)))

  private val waiting = withReset(reset.asBool || start.valid)(Module(new Queue(new OutputLine(bytes), 4)))
  private val aligner = Module(new StripeAligner(bytes))
  private val lanes = Xxh64.lanes.map(initial => Module(new Xxh64Lane(initial)))
  private val ending = Module(new Xxh64Ending)
  private val pause = RegInit(false.B)

  waiting.io.enq <> line
  waiting.io.deq.ready := !pause
  pause := waiting.io.deq.fire
  aligner.start := start
  aligner.line.valid := waiting.io.deq.fire
  aligner.line.bits := waiting.io.deq.bits
  for ((lane, i) <- lanes.zipWithIndex) {
    lane.start := start.valid
    lane.input.valid := aligner.stripe.valid
    lane.input.bits := aligner.stripe.bits(64 * i + 63, 64 * i)
    ending.lanes(i) := lane.value
  }
  private val quiet = finish && !line.valid && waiting.io.count === 0.U && !aligner.busy && !lanes.head.busy
  ending.start := quiet && RegNext(quiet, false.B) && !RegNext(RegNext(quiet, false.B), false.B)
  ending.length := length
  ending.rest := aligner.rest
  private val finished = RegInit(false.B)
  when(ending.done) { finished := true.B }
  when(!finish) { finished := false.B }
  done := finished
  value := ending.value
}

/** Stripes of 32 bytes out of lines that begin anywhere. */
class StripeAligner(bytes: Int) extends Module {
  private val stripeBytes = 32
  val start = IO(Flipped(Valid(UInt(log2Ceil(bytes).W))))
  val line = IO(Flipped(Valid(new OutputLine(bytes))))
  val stripe = IO(Valid(UInt((8 * stripeBytes).W)))

  /** Bytes that don't fill a stripe, the first one lowest. */
  val rest = IO(Output(UInt((8 * stripeBytes).W)))
  val busy = IO(Output(Bool()))

  // Turned, so that the first byte of the frame is in place 0; a register before, as lines come late.
  private val begin = RegEnable(start.bits, start.valid)
  private val taken = Pipe(line)
  private val turning = RegNext(taken.valid, false.B)
  private val turned =
    RegEnable(Lines.rotate(taken.bits.data, (0.U - begin)(log2Ceil(bytes) - 1, 0), bytes), taken.valid)
  private val count = RegEnable(PopCount(taken.bits.mask), taken.valid)

  // Joined with what was left of the line before.
  private val held = Reg(UInt((8 * bytes).W))
  private val filled = RegInit(0.U((log2Ceil(bytes) + 1).W))
  private val joined = Lines.merge(Lines.mask(filled, bytes), held, turned, bytes)
  private val total = filled +& count
  private val full = turning && total >= bytes.U
  when(turning) {
    held := Mux(full, turned, joined)
    filled := Mux(full, total - bytes.U, total)
  }
  when(start.valid) { filled := 0.U }

  private val parts = stripeBytes / bytes
  if (parts == 1) {
    stripe.valid := RegNext(full, false.B)
    stripe.bits := RegEnable(joined, full)
    rest := held
  } else {
    val half = RegInit(false.B)
    val lower = RegEnable(joined, full && !half)
    when(full) { half := !half }
    when(start.valid) { half := false.B }
    stripe.valid := RegNext(full && half, false.B)
    stripe.bits := RegEnable(Cat(joined, lower), full && half)
    rest := Mux(half, Cat(held, lower), held)
  }
  busy := taken.valid || turning || stripe.valid
}
