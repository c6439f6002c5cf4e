package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.port.MemoryPort
import rackwright.protobuf.table.DescriptorCache
import rackwright.stream.HeadQueue
import rackwright.unit.HardwareUnit

/** The unit `protobuf-deserialize`: parses the wire format into objects of the official C++ library. README.md is the
  * contract.
  *
  * @param params
  *   parameters of the unit.
  */
class Deserializer(params: DeserializerParams = DeserializerParams()) extends HardwareUnit {
  private val shared = MemoryArbiter.downstream(params.port, 2)

  val command = commandPort(DeserializerCommands.set, Deserializer.opcode)
  val read: MemoryPort = memoryPort(shared)
  val write: MemoryPort = memoryPort(shared)
  val table: MemoryPort = memoryPort(shared)
  val idle = idlePort()

  private val commands = Module(new DeserializerCommands(Deserializer.opcode))
  private val control = Module(new DeserializerControl)
  private val input = Module(new DeserializerInput(params.port, params.outstanding, params.commandQueue))
  private val fields = Module(new DeserializerFields(params))
  private val regions = Module(new DeserializerRegions(params.portBytes))
  private val cache = Module(new DescriptorCache(params.port, params.descriptorLines))
  private val readBack = Module(new ReadBack(params.port))
  private val stores = Module(new DeserializerStores(params.port, params.storeLines, params.outstanding))
  private val completer = Module(new ProtobufCompleter(params.port))
  private val writes = Module(new MemoryArbiter(params.port, 2))
  private val reads = Module(new MemoryArbiter(params.port, 2))
  private val ahead = Module(new RegionsAhead(params.port))
  private val inputs = Module(new MemoryArbiter(params.port, 2))

  commands.command.request <> command.request
  private val answers = Queue(commands.command.response, 2)
  command.response <> answers
  private val requests = Module(
    new HeadQueue(chiselTypeOf(commands.request.bits), params.commandQueue, direct = true)
  )
  requests.in <> commands.request
  control.request <> requests.out
  input.range <> commands.range
  commands.report.completed := completer.completed
  commands.report.failure := completer.failure
  commands.report.heads := regions.heads
  commands.report.leftovers := fields.leftoverHead
  completer.reported := commands.reported
  cache.flush := commands.flush
  fields.flush := commands.flush

  fields.start := control.start
  fields.follow := control.follow
  control.succeeds := fields.succeeds
  fields.isKnown := control.isKnown
  control.mayGoAhead := fields.mayGoAhead
  fields.goesAhead := control.goesAhead
  control.ended := fields.ended
  fields.arena := control.arena
  fields.leftoverBounds := control.leftovers
  input.begin.valid := control.begin.valid
  control.begin.ready := input.begin.ready
  input.stop := RegNext(control.stop, false.B)
  fields.stream <> input.stream

  regions.set := control.regions
  regions.objects <> fields.objects
  regions.strings <> fields.strings
  regions.arrays <> fields.arrays
  regions.undo := fields.undo
  regions.texts <> fields.texts
  regions.trim <> fields.trim
  fields.arraysHead := regions.heads.arrays

  cache.request <> fields.lookup
  fields.line <> cache.response
  fields.lookupIdle := cache.idle
  readBack.request := fields.readBack
  fields.readBackResponse := readBack.response
  private val quiet = stores.quiet.reduce(_ && _) && !fields.storing
  readBack.quiet := quiet
  control.quiet := quiet

  stores.store <> fields.store
  stores.beat <> fields.beat
  stores.turn := control.turn
  stores.drain := control.drain || readBack.drain
  stores.clear := completer.clear

  completer.completion <> control.completion
  completer.quiet := stores.quiet
  completer.faulted := stores.faulted
  control.free := completer.free

  ahead.heads := regions.heads
  ahead.taken := Seq(fields.objects, fields.strings, fields.arrays, fields.texts).map(_.take).reduce(_ || _)
  ahead.reading := !control.idle
  // Responses go to every beat of the input buffer: they are registered.
  inputs.ports(0).request <> input.memory.request
  inputs.ports(0).response.ready := true.B
  input.memory.response.valid := RegNext(inputs.ports(0).response.valid, false.B)
  input.memory.response.bits := RegEnable(inputs.ports(0).response.bits, inputs.ports(0).response.valid)
  inputs.ports(1) <> ahead.memory
  read <> inputs.memory
  writes.ports(0) <> stores.memory
  writes.ports(1) <> completer.memory
  write <> writes.memory
  reads.ports(0) <> cache.memory
  reads.ports(1) <> readBack.memory
  table <> reads.memory

  idle := commands.quiet && control.idle && input.idle && cache.idle && ahead.idle && !answers.valid &&
    !command.request.valid

  event("busy", !commands.quiet)
  event("fields", fields.events.values)
  event("input_stall", fields.events.inputStall)
  event("store_stall", fields.events.storeStall)
  event("descriptor_miss", cache.miss)
}

/** Constants of the deserializer. */
object Deserializer {

  /** custom-2. */
  val opcode: Int = 2
}
