package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.HardwareUnit
import rackwright.memory.MemoryArbiter

/** The unit `protobuf-serialize`: from objects of the C++ library to wire format. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class Serializer(params: SerializerParams = SerializerParams()) extends HardwareUnit {
  private val rowPort = params.port(params.tableRows)
  private val objectPort = params.port(params.objectLines)
  private val bufferPort = params.port(params.bufferBeats)
  private val writePort = params.port(Serializer.writes)

  val command = commandPort(Serializer.opcode)
  val table = memoryPort(MemoryArbiter.downstream(rowPort, SerializerTable.banks(rowPort)))
  val objects = memoryPort(objectPort)
  val read = memoryPort(params.port(params.outstanding))
  val write = memoryPort(MemoryArbiter.downstream(writePort, 2))
  val idle = idlePort()

  private val commands = Module(new SerializerCommands)
  private val walker = Module(new SerializerWalker(params))
  private val rows = Module(new SerializerTable(rowPort))
  private val announcer = Module(new SerializerAnnouncer(params))
  private val cache = Module(new SerializerCache(objectPort))
  private val fields = Seq.fill(params.fieldSerializers)(Module(new FieldSerializer(bufferPort)))
  private val reads = Module(new SerializerReads(bufferPort, params.port(params.outstanding), params.fieldSerializers))
  private val merger = Module(new SerializerMerger(params))
  private val encoder = Module(new SerializerEncoder(params))
  private val writer = Module(new DescendingWriter(writePort))
  private val completion = Module(new SerializerCompletion(writePort))
  private val writes = Module(new MemoryArbiter(writePort, 2))

  commands.request <> command.request
  command.response <> Queue(commands.response, 2)
  commands.ended := completion.ended
  walker.request <> Queue(commands.walk, params.commandQueue, flow = true)
  writer.ticket <> Queue(commands.ticket, params.commandQueue + Serializer.operations)

  rows.clear := commands.flush
  walker.flush := commands.flush
  rows.request <> walker.rowRequest
  rows.cancel := walker.cancelRow
  walker.row <> rows.response
  table <> rows.memory
  cache.now := commands.now
  cache.since := walker.since
  cache.clear := false.B
  cache.age := commands.walk.fire && commands.walk.bits.time(SerializerCache.timeBits - 3, 0) === 0.U
  cache.request <> walker.beatRequest
  cache.cancel := walker.cancelBeat
  cache.prefetch <> announcer.prefetch
  announcer.request.valid := commands.walk.fire && !commands.walk.bits.refused
  announcer.request.bits := commands.walk.bits
  announcer.walker := walker.prefetch
  announcer.latest := walker.latest
  announcer.latestBytes := walker.latestBytes
  walker.beat <> cache.response
  objects <> cache.memory

  private val givenUp = Wire(Valid(UInt(SerializerEncoder.requestBits.W)))
  givenUp.valid := encoder.failed
  givenUp.bits := encoder.request
  walker.givenUp := givenUp
  merger.givenUp := givenUp
  for ((field, index) <- fields.zipWithIndex) {
    field.task <> walker.tasks(index)
    field.cancel := merger.cancel(index)
    merger.pieces(index) <> field.piece
    reads.ports(index) <> field.memory
  }
  read <> reads.memory

  merger.operation <> Queue(walker.operation, Serializer.operations)
  encoder.step <> merger.step
  writer.chunk <> Queue(encoder.chunk, 1, pipe = true)
  encoder.full := writer.full
  encoder.writerTurn := writer.turn
  completion.report <> writer.report
  writes.ports(0) <> writer.memory
  writes.ports(1) <> completion.memory
  write <> writes.memory

  idle := commands.quiet && !command.response.valid && !announcer.prefetch.valid && rows.idle && cache.idle && reads.idle
  event("busy", !commands.quiet)
  event("fields", walker.operation.fire)
  event("bytes", Mux(writer.chunk.fire && !writer.chunk.bits.finishes, writer.chunk.bits.count, 0.U))
  event("input_stall", merger.operation.valid && !merger.step.valid)
  event("output_stall", writer.chunk.valid && !writer.chunk.ready)
}

/** Constants of the serializer. */
object Serializer {

  /** custom-3. */
  val opcode: Int = 3

  /** Writes outstanding. */
  val writes: Int = 64

  /** Operations that wait between the walk and the output. */
  val operations: Int = 16
}
