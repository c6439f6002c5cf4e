package rackwright.compression

import rackwright.operation.StreamCommands
import rackwright.port.MemoryPort
import rackwright.unit.HardwareUnit

/** The top of a compressor: ports and events, and a core that the boxes of a format are connected to.
  *
  * @param params
  *   what to build.
  */
abstract class CompressorUnit(params: CompressorParams) extends HardwareUnit {

  /** custom-1, with decompressors on custom-0, as in the public compression units. */
  protected val opcode = 1

  val command = commandPort(StreamCommands.of(params.settings, params.streaming), opcode)
  val read: MemoryPort = memoryPort(params.port)
  val write: MemoryPort = memoryPort(CompressorCore.writePort(params))
  val idle = idlePort()

  /** Connects the core, and names its events. */
  protected def connect(core: CompressorCore): Unit = {
    core.command <> command
    read <> core.read
    write <> core.write
    idle := core.idle
    event("hash_hit", core.events.hashHit)
    event("hash_lost", core.events.hashLost)
    event("match_bytes", core.events.matchBytes)
    event("literal_bytes", core.events.literalBytes)
    event("input_stall", core.events.inputStall)
    event("output_stall", core.events.outputStall)
  }
}
