package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Status}
import rackwright.stream.{ByteChunk, WriterResult}

/** Writes a stream of bytes to a range of memory, any alignment, one beat per cycle.
  *
  * [[ChunkSplitter]] makes chunks no wider than a beat, [[BeatCoalescer]] fills beats with them, [[BeatWriter]] has
  * them written. README.md is the contract.
  *
  * @param port
  *   shape of the memory port.
  * @param chunkBytes
  *   the most bytes taken in a cycle; more than a beat is taken over several cycles.
  * @param outstanding
  *   writes unanswered at any time; a power of two, at most 2^tagBits.
  */
class StreamWriter(port: MemoryPortParams, chunkBytes: Int, outstanding: Int) extends Module {
  import StreamWriter.State

  /** The range to write; taken when the result of the one before has been taken. */
  val start = IO(Flipped(Decoupled(new WriterRange)))

  /** The next bytes of the stream; a count of 0 is allowed. */
  val chunk = IO(Flipped(Decoupled(new ByteChunk(chunkBytes))))

  /** No more chunks follow the one offered in this cycle; stored until the result is taken. */
  val finish = IO(Input(Bool()))

  /** Bytes beyond the capacity were received and dropped. */
  val overflow = IO(Output(Bool()))

  /** Memory answered a write of this range with a fault, or the range wraps. */
  val faulted = IO(Output(Bool()))

  /** Bytes taken for the range so far. */
  val written = IO(Output(UInt(64.W)))

  /** The result; offered when every write has a response. */
  val result = IO(Decoupled(new WriterResult))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  /** No range is being written. */
  val idle = IO(Output(Bool()))

  private val splitter = Module(new ChunkSplitter(chunkBytes, port.bytes))
  private val coalescer = Module(new BeatCoalescer(port, splitter.narrowBytes))
  private val writer = Module(new BeatWriter(port, outstanding))

  private val state = RegInit(State.idle)
  private val finishing = RegInit(false.B)
  private val wraps = RegInit(false.B)

  splitter.clear := start.fire
  splitter.wide.valid := chunk.valid && state === State.running
  splitter.wide.bits := chunk.bits
  chunk.ready := splitter.wide.ready && state === State.running
  coalescer.chunk <> splitter.narrow
  coalescer.start.valid := start.fire
  coalescer.start.bits := start.bits
  private val startWraps = Ranges.wraps(start.bits.address, start.bits.capacity, port.addressBits)
  // Nothing may be written to a range that wraps: its capacity is set to zero.
  when(startWraps) { coalescer.start.bits.capacity := 0.U }
  writer.beat <> coalescer.beat
  writer.clear := start.fire
  memory <> writer.memory

  private val drained = !splitter.narrow.valid && !chunk.valid
  coalescer.flush := state === State.running && (finishing || finish) && drained
  finishing := state === State.running && (finishing || finish)

  start.ready := state === State.idle
  result.valid := state === State.answering && writer.quiet
  result.bits.status := Mux(faulted, Status.accessFault, Mux(overflow, Status.outputFull, Status.ok))
  result.bits.written := coalescer.written
  overflow := coalescer.overflow
  faulted := writer.faulted || wraps
  written := coalescer.written
  idle := state === State.idle

  when(start.fire) {
    state := State.running
    wraps := startWraps
  }
  when(coalescer.flushed) { state := State.answering }
  when(result.fire) { state := State.idle }
}

/** The states of a [[StreamWriter]]. */
object StreamWriter {

  /** `running` takes chunks; `answering` waits for memory and then for the taker of the result. */
  object State extends ChiselEnum {
    val idle, running, answering = Value
  }
}
