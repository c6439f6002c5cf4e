package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.memory.SramQueue
import rackwright.port.MemoryPort

/** Walks one message at a time, from the request to the steps of its output.
  *
  * @param params
  *   parameters of the unit.
  */
class SerializerLane(params: SerializerParams) extends Module {
  private val rowPort = params.rowPort
  private val objectPort = params.objectPort
  private val bufferPort = params.bufferPort

  /** Messages to walk. */
  val request = IO(Flipped(Decoupled(new SerializerRequest)))

  /** Number of messages that wait or are walked. */
  val load = IO(Output(UInt(log2Ceil(params.laneQueue + 2).W)))

  /** The output, from the last byte to the first. */
  val step = IO(Decoupled(new OutputStep(params.portBytes)))

  /** Number of the request whose output is abandoned. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** As [[SerializerCache]] has them. */
  val now = IO(Input(UInt(SerializerCache.timeBits.W)))
  val age = IO(Input(Bool()))

  /** Invalidate descriptor tables; between requests. */
  val flush = IO(Input(Bool()))

  /** Reads of tables, of objects, of pointers to strings, of string objects, of the bytes of strings and arrays. */
  val table = IO(new MemoryPort(SerializerTable.port(rowPort)))
  val objects = IO(new MemoryPort(objectPort))
  val pointers = IO(new MemoryPort(params.stringPort))
  val stringObjects = IO(new MemoryPort(params.stringPort))
  val reads = IO(Vec(params.fieldSerializers, new MemoryPort(bufferPort)))

  /** No read of tables or objects is outstanding. */
  val idle = IO(Output(Bool()))

  /** The walk outputs an operation; the output waits for bytes. */
  val walked = IO(Output(Bool()))
  val stalled = IO(Output(Bool()))

  private val walker = Module(new SerializerWalker(params))
  private val rows = Module(new SerializerTable(rowPort))
  private val announcer = Module(new SerializerAnnouncer(params))
  private val cache = Module(new SerializerCache(objectPort, SerializerLane.asked))
  private val fields = Seq.fill(params.fieldSerializers)(Module(new FieldSerializer(bufferPort)))
  private val tasks = Module(new SramQueue(new FieldTask, Serializer.tasks, direct = true))
  private val arrays = Module(new SerializerPointers(params.stringPort))
  private val strings = Module(new SerializerStrings(params.stringPort))
  private val dealer = Module(new SerializerDealer(params))
  private val picker = Module(new SerializerPicker(params))
  private val merger = Module(new SerializerMerger(params))

  private val waiting = Module(new Queue(new SerializerRequest, params.laneQueue, flow = true))
  waiting.io.enq <> request
  walker.request <> waiting.io.deq
  load := waiting.io.count +& !walker.idle
  walker.flush := flush
  private val dropped = RegNext(givenUp)
  walker.givenUp := dropped

  rows.clear := flush
  rows.request <> walker.rowRequest
  rows.cancel := walker.cancelRow
  walker.row <> rows.response
  table <> rows.memory

  announcer.request.valid := request.fire && !request.bits.refused
  announcer.request.bits := request.bits
  announcer.walker := walker.prefetch
  announcer.latest := walker.latest
  announcer.latestBytes := walker.latestBytes

  cache.now := now
  cache.since := walker.since
  cache.clear := false.B
  cache.age := age
  cache.request <> walker.beatRequest
  cache.cancel := walker.cancelBeat
  cache.prefetch <> announcer.prefetch
  walker.beat <> cache.response
  objects <> cache.memory

  tasks.clear := false.B
  tasks.enq <> walker.task
  arrays.task <> tasks.deq
  arrays.givenUp := dropped
  pointers <> arrays.memory
  strings.task <> arrays.single
  stringObjects <> strings.memory
  dealer.source <> strings.source
  for ((field, number) <- fields.zipWithIndex) {
    field.source <> dealer.sources(number)
    field.givenUp := dropped
    picker.pieces(number) <> field.piece
    reads(number) <> field.memory
  }
  merger.operation <> walker.operation
  merger.piece <> picker.piece
  step <> merger.step

  idle := !announcer.prefetch.valid && rows.idle && cache.idle
  walked := walker.operation.fire
  stalled := merger.stalled
}

/** Constants of a [[SerializerLane]]. */
object SerializerLane {

  /** Maximum number of beats of objects that are requested and not consumed. */
  val asked: Int = 8
}
