package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.ReorderBuffer
import rackwright.memory.SramQueue
import rackwright.port.{MemoryPort, MemoryPortParams, MemoryRequest, Status}
import rackwright.protobuf.table.{DescriptorTable, FieldKind}

/** Reads string objects to locate their characters, several strings ahead of the field serializers; arrays pass through
  * in order.
  *
  * A string object has 32 bytes: pointer, size, and 16 bytes that hold the characters of a short string.
  *
  * @param port
  *   parameters of the memory port; one tag for each prefetched beat.
  */
class SerializerStrings(port: MemoryPortParams) extends Module {
  private val offsetBits = port.offsetBits
  private val wordsPerBeat = port.bytes / 8
  private val wordBits = log2Ceil(wordsPerBeat)

  /** Strings and arrays. */
  val task = IO(Flipped(Decoupled(new FieldTask)))

  /** The same, in the same order. */
  val source = IO(Decoupled(new FieldSource))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  private val buffer = Module(new ReorderBuffer(port, port.outstanding))
  private val asked = Module(new SramQueue(new FieldTask, port.outstanding))
  private val requests = Module(new Queue(new MemoryRequest(port), 2))
  buffer.clear := false.B
  buffer.response <> memory.response
  asked.clear := false.B
  memory.request <> requests.io.deq

  // Beats of objects are requested in ascending order.
  private val number = RegInit(0.U(2.W))
  private val isLast = number === SerializerStrings.lastBeat(task.bits.address, port)
  private def isRead(task: FieldTask): Bool = task.isString && !task.isWild
  private val asks = task.valid && isRead(task.bits) && asked.enq.ready && buffer.reserve.valid
  private val fires = asks && requests.io.enq.ready
  requests.io.enq.valid := asks
  requests.io.enq.bits.read(((task.bits.address >> offsetBits) + number) << offsetBits, buffer.reserve.bits)
  buffer.reserve.ready := fires
  when(fires) { number := Mux(isLast, 0.U, number + 1.U) }
  asked.enq.valid := task.valid && (!isRead(task.bits) || (fires && isLast))
  asked.enq.bits := task.bits
  task.ready := asked.enq.fire

  // The current object: the data of the preceding beats and of this one.
  private val whole = Wire(Decoupled(new LoadedString))
  private val at = asked.deq
  private val index = RegInit(0.U(2.W))
  private val before = Reg(Vec(4, UInt(64.W)))
  private val wasFault = Reg(Bool())
  private val beat = buffer.beat
  private val words = beat.bits.data.asTypeOf(Vec(wordsPerBeat, UInt(64.W)))
  private val firstWord = at.bits.address(offsetBits - 1, 3)
  private val string = VecInit(Seq.tabulate(4) { word =>
    val place = firstWord +& word.U
    Mux(place >> wordBits === index, words(place(wordBits - 1, 0)), before(word))
  })
  private val isWhole = index === SerializerStrings.lastBeat(at.bits.address, port)
  private val fault = beat.bits.fault || (index =/= 0.U && wasFault)

  beat.ready := at.valid && isRead(at.bits) && (!isWhole || whole.ready)
  when(beat.fire) {
    index := Mux(isWhole, 0.U, index + 1.U)
    before := string
    wasFault := fault
  }
  whole.valid := at.valid && (!isRead(at.bits) || (beat.valid && isWhole))
  at.ready := whole.fire
  whole.bits.task := at.bits
  whole.bits.string := string
  whole.bits.fault := fault
  source <> SerializerStrings.source(Queue(whole, 2))
}

/** A task, and for a string its object. */
class LoadedString extends Bundle {
  val task = new FieldTask
  val string = Vec(4, UInt(64.W))
  val fault = Bool()
}

/** The addresses of string objects. */
object SerializerStrings {

  /** The index, from 0, of the last beat that holds a string object. */
  def lastBeat(address: UInt, port: MemoryPortParams): UInt =
    (address(port.offsetBits - 1, 3) +& 3.U) >> log2Ceil(port.bytes / 8)

  /** The address of the characters. Whether their end is outside of memory is checked when they are read. */
  private def source(loaded: DecoupledIO[LoadedString]): DecoupledIO[FieldSource] = {
    val source = Wire(Decoupled(new FieldSource))
    val task = loaded.bits.task
    val (pointer, size) = (loaded.bits.string(0), loaded.bits.string(1))
    val beyond = (pointer >> DescriptorTable.addressBits).orR
    source.valid := loaded.valid
    loaded.ready := source.ready
    source.bits.task := task
    source.bits.local.valid := false.B
    source.bits.local.bits := loaded.bits.string(3) ## loaded.bits.string(2)
    source.bits.status := Status.ok
    source.bits.elementBytes := MuxLookup(FieldKind.log2Bytes(task.kind), 8.U(4.W))(Seq(0.U -> 1.U, 2.U -> 4.U))
    source.bits.bytes := task.count << FieldKind.log2Bytes(task.kind)
    source.bits.asIs := task.packed && (!FieldKind.isVarint(task.kind) || FieldKind.isBool(task.kind))
    when(task.isString) {
      source.bits.asIs := true.B
      source.bits.bytes := size(FieldSource.countBits - 1, 0)
      source.bits.task.address := pointer
      source.bits.task.count := size
      source.bits.local.valid := pointer === task.address + 16.U && size < 16.U
      source.bits.status := MuxCase(
        Status.ok,
        Seq(
          (loaded.bits.fault || task.isWild) -> Status.accessFault,
          size(63, 31).orR -> Status.unsupported,
          beyond -> Status.accessFault
        )
      )
    }
    source
  }
}
