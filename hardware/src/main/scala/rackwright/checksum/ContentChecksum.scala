package rackwright.checksum

import chisel3._
import chisel3.util._

import rackwright.access.OutputLine

/** XXH64 of a frame's content, from the lines written to memory. A line of 32 bytes every second cycle.
  *
  * Lines have the order of memory; [[StripeAligner]] converts them to stripes for four [[Xxh64Lane]]s, and
  * [[Xxh64Ending]] processes the rest and the lanes.
  *
  * @param bytes
  *   bytes of a line, 16 or 32.
  */
class ContentChecksum(bytes: Int) extends Module {

  /** A frame begins; its first byte is at this byte of the first line. */
  val start = IO(Flipped(Valid(UInt(log2Ceil(bytes).W))))
  val line = IO(Flipped(Decoupled(new OutputLine(bytes))))

  /** All lines of the frame have been passed, held until `done`; bytes of the frame. */
  val finish = IO(Input(Bool()))
  val length = IO(Input(UInt(64.W)))

  /** The lower half of the hash is ready. */
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
