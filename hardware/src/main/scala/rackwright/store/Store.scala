package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.access.{MemoryArbiter, StreamLoader, StreamWriter}
import rackwright.operation.{CommandRouter, StreamCommands}
import rackwright.stream.SkidBuffer
import rackwright.unit.HardwareUnit

/** The key-value store: executes requests. README.md is the contract. */
class Store(params: Params) extends HardwareUnit {
  val command = commandPort(StreamCommands.of(StoreSettings.of(params)), Store.opcode)
  val read = memoryPort(params.port)
  val index = memoryPort(MemoryArbiter.downstream(params.index, 3))
  val values = memoryPort(params.port)
  val write = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router =
    Module(new CommandRouter(Store.opcode, StoreSettings.of(params), params.commandQueue, params.port))
  private val control = Module(new StoreControl(params))
  private val loader = Module(new StreamLoader(params.port, Grain.bytes, params.outstanding))
  private val reader = Module(new RequestReader(params))
  private val keys = Module(new KeyMemory(params))
  private val lookups = Module(new Lookups(params))
  private val changer = Module(new Changer(params))
  private val allItems = Module(new AllItems)
  private val memory = Module(new ChangeMemory(params))
  private val fetcher = Module(new ValueReader(params))
  private val responder = Module(new Responder(params))
  private val writer = Module(new StreamWriter(params.port, Grain.bytes, params.outstanding))
  private val region = control.region

  command <> router.command
  control.operation <> router.operation
  router.result <> control.result
  loader.range <> control.range
  loader.stop := control.stop
  writer.start <> control.start
  writer.finish := control.finish
  control.written <> writer.result

  // Requests and keys.
  reader.run := control.run
  reader.hashKey := region.hashKey
  reader.slot := lookups.slot
  keys.write := reader.key
  lookups.start <> reader.lookup
  lookups.region := region
  keys.read := Mux(changer.keyRead.valid, changer.keyRead, lookups.keyRead)
  lookups.keyLine := keys.line
  changer.keyLine := keys.line

  // The outcome of a lookup is answered, or is the first part of a change; or what is for all items has its turn.
  private val changes = lookups.found.bits.changes
  private val isForAll = lookups.found.bits.isForAll
  private val response = Wire(Decoupled(new Response))
  private val answers = changer.response.valid || allItems.response.valid
  lookups.found.ready := MuxCase(
    response.ready && !answers,
    Seq(changes -> changer.found.ready, isForAll -> allItems.found.ready)
  )
  allItems.found.valid := lookups.found.valid && isForAll
  allItems.found.bits := lookups.found.bits
  allItems.expiry := reader.change.expiry
  allItems.region := region
  changer.found.valid := lookups.found.valid && changes
  changer.found.bits := lookups.found.bits
  changer.region := region
  changer.change := reader.change
  changer.value <> reader.value
  changer.cut := reader.cut
  reader.changed := changer.changed || allItems.response.fire
  response.valid := answers || (lookups.found.valid && !changes && !isForAll)
  response.bits := MuxCase(
    lookups.found.bits.response,
    Seq(
      changer.response.valid -> changer.response.bits,
      allItems.response.valid -> allItems.response.bits
    )
  )
  changer.response.ready := response.ready
  allItems.response.ready := response.ready

  // The memory port of changes, which also reads the header of the region.
  memory.base := region.base
  memory.clear := control.clear || changer.clear || allItems.clear
  memory.read := MuxCase(changer.read, Seq(control.read, allItems.read).map(read => read.valid -> read))
  control.got := memory.answer
  changer.got := memory.answer
  allItems.got := memory.answer
  control.refused := memory.faulted
  for (faulted <- Seq(changer.faulted, allItems.faulted)) faulted := memory.faulted
  for (settled <- Seq(changer.settled, allItems.settled)) settled := memory.settled
  memory.write.valid := changer.write.valid || allItems.write.valid
  memory.write.bits := Mux(allItems.write.valid, allItems.write.bits, changer.write.bits)
  for (write <- Seq(changer.write, allItems.write)) write.ready := memory.write.ready
  allItems.pending := control.flush
  control.flushed := allItems.looked

  // Responses.
  responder.response <> SkidBuffer(response)
  fetcher.base := region.base
  fetcher.range <> responder.range
  responder.beat <> fetcher.beat
  private val noneWaits = !responder.response.valid
  reader.alone := lookups.empty && noneWaits && responder.asked && fetcher.quiet
  control.ended := reader.ended
  control.status := reader.status
  control.empty := lookups.empty && noneWaits && responder.empty
  control.valueFault := responder.fault

  // Requests and responses have the form of this page, or are text.
  if (params.text) {
    val textReader = Module(new TextReader(params))
    val textWriter = Module(new TextWriter)
    val words = Module(new WordStream)
    for (clear <- Seq(textReader.clear, textWriter.clear, words.clear)) clear := control.clear
    textReader.run := control.run
    textReader.time := region.time
    textReader.lead := RegEnable(router.operation.bits.setting(StoreSettings.lead.name), router.operation.fire)
    textReader.stream <> loader.stream
    words.word <> textReader.word
    words.ended := textReader.ended
    words.faulted := textReader.faulted
    reader.stream <> words.stream
    reader.stop := false.B
    textWriter.phrase <> textReader.phrase
    textWriter.response <> responder.chunk
    textWriter.time := region.time
    writer.chunk <> textWriter.chunk
    control.offset := textReader.position
    when(!textReader.silent || !textWriter.empty) { control.empty := false.B }
  } else {
    reader.stream <> loader.stream
    reader.stop := writer.overflow
    writer.chunk <> responder.chunk
    control.offset := reader.offset
  }

  // Ports.
  read <> loader.memory
  values <> fetcher.memory
  private val accesses = Module(new MemoryArbiter(params.index, 3))
  for ((port, asker) <- accesses.ports.zip(Seq(lookups.memory, memory.reads, memory.writes))) port <> asker
  index <> accesses.memory
  private val writes = Module(new MemoryArbiter(params.port, 2))
  writes.ports(0) <> writer.memory
  writes.ports(1) <> router.memory
  write <> writes.memory
  idle := router.idle && loader.idle && writer.idle

  event("busy", !router.idle)
  event("requests", reader.lookup.fire)
  event("input_stall", reader.waits)
  event("index_reads", lookups.memory.request.fire)
}

/** Constants of the unit. */
object Store {

  /** custom-2. */
  val opcode: Int = 2
}
