package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.stream.{ByteStream, StreamRange}

/** Reads a range of memory and offers it as a stream of bytes, of which the consumer selects how many to take.
  *
  * Beats are requested in order, up to `outstanding` ahead, and their responses may have any order: [[ReorderBuffer]]
  * stores them until it is their turn, [[StreamWindow]] contains the next few and aligns them. README.md is the
  * contract.
  *
  * @param port
  *   shape of the memory port.
  * @param streamBytes
  *   the most bytes offered in a cycle.
  * @param outstanding
  *   beats requested ahead of the consumer; a power of two, at most 2^tagBits.
  */
class StreamLoader(port: MemoryPortParams, streamBytes: Int, outstanding: Int) extends Module {

  /** The range to stream; taken when the one before is consumed or stopped and all its beats have been answered. */
  val range = IO(Flipped(Decoupled(new StreamRange)))

  /** Give up the range: its outstanding beats are awaited and dropped. */
  val stop = IO(Input(Bool()))

  /** The next bytes of the range; without a range no bytes are available, and `last` and `fault` are low. */
  val stream = IO(new ByteStream(streamBytes))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No byte is left to consume and no beat is outstanding. */
  val idle = IO(Output(Bool()))

  private val requester = Module(new BeatRequester(port, outstanding))
  private val buffer = Module(new ReorderBuffer(port, outstanding))
  private val window = Module(new StreamWindow(port.bytes, streamBytes))

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

  window.start.valid := start
  window.start.bits := range.bits
  window.unreadable := unreadable
  window.stop := stop
  window.beat <> buffer.beat
  stream <> window.stream

  range.ready := buffer.quiet && window.finished && !stop
  idle := buffer.quiet && window.finished
}
