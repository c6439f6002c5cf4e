package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.{LineWriter, MemoryArbiter, WrittenLines}
import rackwright.lz77.decode.{Decoder, DecoderStart}
import rackwright.operation.{CommandRouter, StreamCommands}
import rackwright.port.MemoryPort
import rackwright.unit.HardwareUnit

/** The top of a decompressor: ports, commands, the path from the LZ77 decoder to memory, and events.
  *
  * @param params
  *   what to build.
  */
abstract class DecompressorUnit(params: DecompressorParams) extends HardwareUnit {

  /** custom-0, with compressors on custom-1, as in the public compression units. */
  private val opcode = 0

  val command = commandPort(StreamCommands.of(params.settings, params.streaming), opcode)
  val read: MemoryPort =
    memoryPort(if (params.readers == 0) params.port else MemoryArbiter.downstream(params.port, 1 + params.readers))
  val write: MemoryPort = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val history: MemoryPort = memoryPort(params.port, intermediate = true)
  val idle = idlePort()

  protected val router: CommandRouter =
    Module(new CommandRouter(opcode, params.settings, params.commandQueue, params.port, params.streaming))
  router.command <> command

  /** Connects decoder and writer with memory, and names the events that all decompressors have.
    *
    * Between the two the lines are the unit's own: it may need them for a checksum.
    *
    * @param start
    *   when both start an output, and its address.
    * @param starved
    *   the decoder waits for input.
    * @param lines
    *   receives the number of output lines whose writes have responses.
    * @param settled
    *   is told when every line that was answered has been counted: an output may begin.
    */
  protected def connect(
      start: Valid[DecoderStart],
      decoder: Decoder,
      writer: LineWriter,
      starved: Bool,
      lines: Option[UInt] = None,
      settled: Option[Bool] = None
  ): Unit = {
    val writes = Module(new MemoryArbiter(params.port, 2))
    val acknowledged = Module(new WrittenLines(params.port, params.outstanding))

    decoder.start := start
    decoder.memory <> history
    decoder.acknowledged := acknowledged.lines
    writer.start.valid := start.valid
    writer.start.bits := start.bits.destination
    writes.ports(0) <> writer.memory
    writes.ports(1) <> router.memory
    write <> writes.memory
    acknowledged.start := start.valid
    acknowledged.watched.watch(writer.memory)

    event("input_stall", starved)
    event("history_fallback", decoder.events.fallbacks)
    event("fallback_stall", decoder.events.fallbackStall)
    event("output_stall", decoder.events.outputStall)
    event("steps", decoder.events.steps)
    lines.foreach(_ := acknowledged.lines)
    settled.foreach(_ := RegNext(acknowledged.settled, false.B))
  }
}
