package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.memory.SramQueue
import rackwright.unit.HardwareUnit

/** The unit `protobuf-serialize`: serializes objects of the C++ library to the wire format. README.md is the contract.
  *
  * @param params
  *   parameters of the unit.
  */
class Serializer(params: SerializerParams = SerializerParams()) extends HardwareUnit {
  private val tablePort = params.port(Serializer.tableReads)
  private val objectPort = params.port(Serializer.objectReads)
  private val readPort = params.port(params.outstanding)
  private val writePort = params.port(Serializer.writes)

  val command = commandPort(SerializerCommands.set, Serializer.opcode)
  val table = memoryPort(MemoryArbiter.downstream(tablePort, 2))
  val objects = memoryPort(MemoryArbiter.downstream(objectPort, 2))
  val read = memoryPort(readPort)
  val write = memoryPort(MemoryArbiter.downstream(writePort, 2))
  val idle = idlePort()

  private val commands = Module(new SerializerCommands)
  private val lanes = Seq.fill(params.lanes)(Module(new SerializerLane(params)))
  private val tables = Module(new SerializerReads(SerializerTable.port(params.rowPort), tablePort, params.lanes))
  private val beats = Module(new SerializerReads(params.objectPort, objectPort, params.lanes))
  private val strings = Module(new SerializerReads(params.stringPort, tablePort, 2 * params.lanes))
  // Strings of some length occupy more than one port: every second field serializer shares the port of the objects.
  private val others = params.fieldSerializers / 2
  private val firsts = params.fieldSerializers - others
  private val contents = Module(new SerializerReads(params.bufferPort, readPort, params.lanes * firsts))
  private val moreContents = Module(new SerializerReads(params.bufferPort, objectPort, params.lanes * others))
  private val shared = Module(new MemoryArbiter(objectPort, 2))
  // Most tables are cached: their port has bandwidth for string objects and the pointers to them.
  private val rows = Module(new MemoryArbiter(tablePort, 2))
  private val encoder = Module(new SerializerEncoder(params))
  private val writer = Module(new DescendingWriter(writePort))
  private val completion = Module(new SerializerCompletion(writePort))
  private val writes = Module(new MemoryArbiter(writePort, 2))

  commands.request <> command.request
  command.response <> Queue(commands.response, 2)
  commands.ended := completion.ended
  private val tickets = Module(new SramQueue(new OutputTicket, Serializer.heldTickets(params)))
  tickets.clear := false.B
  tickets.enq <> commands.ticket
  writer.ticket <> tickets.deq

  private val turns = Module(new SerializerTurns(params))
  turns.loads := VecInit(lanes.map(_.load))
  turns.takes := VecInit(lanes.map(_.request.ready))
  private val walk = Queue(commands.walk, 2)
  turns.gives := walk.fire
  turns.finished := encoder.step.fire && encoder.step.bits.finishes
  walk.ready := turns.goesTo.valid
  private def atTurn[T <: Data](signals: Seq[T]): T = VecInit(signals)(turns.comesFrom.bits)
  private val steps = lanes.map(lane => Queue(lane.step, 2))
  encoder.step.valid := turns.comesFrom.valid && atTurn(steps.map(_.valid))
  encoder.step.bits := atTurn(steps.map(_.bits))
  private val ages = RegNext(walk.fire && walk.bits.time(SerializerCache.timeBits - 3, 0) === 0.U, false.B)
  for ((lane, index) <- lanes.zipWithIndex) {
    lane.request.valid := walk.valid && turns.goesTo.valid && turns.goesTo.bits === index.U
    lane.request.bits := walk.bits
    steps(index).ready := encoder.step.ready && turns.comesFrom.valid && turns.comesFrom.bits === index.U
    lane.givenUp.valid := encoder.failed
    lane.givenUp.bits := encoder.request
    lane.now := commands.now
    lane.age := ages
    lane.flush := commands.flush
    tables.ports(index) <> lane.table
    beats.ports(index) <> lane.objects
    strings.ports(2 * index) <> lane.stringObjects
    strings.ports(2 * index + 1) <> lane.pointers
    for ((port, field) <- lane.reads.zipWithIndex) {
      val number = field / 2
      if (field % 2 == 0) contents.ports(index * firsts + number) <> port
      else moreContents.ports(index * others + number) <> port
    }
  }
  rows.ports(0) <> tables.memory
  rows.ports(1) <> strings.memory
  table <> rows.memory
  shared.ports(0) <> beats.memory
  shared.ports(1) <> moreContents.memory
  objects <> shared.memory
  read <> contents.memory

  writer.chunk <> Queue(encoder.chunk, 2)
  encoder.full := writer.full
  encoder.writerTurn := writer.turn
  completion.report <> Queue(writer.report, 2)
  writes.ports(0) <> writer.memory
  writes.ports(1) <> completion.memory
  write <> writes.memory

  idle := commands.quiet && !command.response.valid && lanes.map(_.idle).reduce(_ && _) && contents.idle &&
    moreContents.idle && strings.idle
  event("busy", !commands.quiet)
  event("fields", PopCount(lanes.map(_.walked)))
  event("bytes", Mux(writer.chunk.fire && !writer.chunk.bits.finishes, writer.chunk.bits.count, 0.U))
  event("input_stall", turns.comesFrom.valid && atTurn(lanes.map(_.stalled)))
  event("output_stall", writer.chunk.valid && !writer.chunk.ready)
}

/** Constants of the serializer. */
object Serializer {

  /** custom-3. */
  val opcode: Int = 3

  /** Maximum numbers of outstanding reads of tables, reads of objects, and writes. */
  val tableReads: Int = 64
  val objectReads: Int = 64
  val writes: Int = 64

  /** Operations of a lane that may wait between walk and output, and the strings and arrays among them that may wait
    * for a field serializer: enough to walk a large message while the output of another lane is written.
    */
  val operations: Int = 512
  val tasks: Int = 256

  /** Beats of string objects that a lane prefetches. */
  val stringBeats: Int = 32

  /** Requests that have been walked and wait for the output. */
  val tickets: Int = 32

  /** Capacity for the tickets of those requests, and of requests that wait for the walk. */
  def heldTickets(params: SerializerParams): Int = 1 << log2Ceil(params.commandQueue + tickets)

  /** Maximum number of requests in flight: fewer than times and request numbers can distinguish. */
  def inFlight(params: SerializerParams): Int = params.commandQueue + tickets
}
