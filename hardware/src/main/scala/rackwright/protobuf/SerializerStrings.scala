package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.{MemoryPort, MemoryPortParams, ReservationBuffer}

/** Finds out where the bytes of strings lie, several strings ahead of the field serializers; arrays pass by in order.
  *
  * A string object has 32 bytes: pointer, size, and 16 bytes where the contents of a short one lie.
  *
  * @param port
  *   shape of the memory port; its tags are the beats that are read ahead.
  */
class SerializerStrings(port: MemoryPortParams) extends Module {
  private val offsetBits = port.offsetBits
  private val addressBits = DescriptorTable.addressBits
  private val wordsPerBeat = port.bytes / 8
  private val wordBits = log2Ceil(wordsPerBeat)

  /** Strings and arrays. */
  val task = IO(Flipped(Decoupled(new FieldTask)))

  /** The same, in the same order. */
  val source = IO(Decoupled(new FieldSource))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  private val buffer = Module(new ReservationBuffer(port, port.outstanding))
  private val asked = Module(new Queue(new FieldTask, port.outstanding))
  buffer.clear := false.B
  buffer.response <> memory.response

  // Beats of objects are asked for upward.
  private val number = RegInit(0.U(2.W))
  private val beats = SerializerStrings.lastBeat(task.bits.address, port)
  private val isLast = number === beats
  private val asks = task.valid && task.bits.isString && asked.io.enq.ready && buffer.reserve.valid
  memory.request.valid := asks
  memory.request.bits.read(((task.bits.address >> offsetBits) + number) << offsetBits, buffer.reserve.bits)
  buffer.reserve.ready := asks && memory.request.ready
  when(memory.request.fire) { number := Mux(isLast, 0.U, number + 1.U) }
  asked.io.enq.valid := task.valid && (!task.bits.isString || (memory.request.fire && isLast))
  asked.io.enq.bits := task.bits
  task.ready := asked.io.enq.fire

  // The object at hand: what came with the beats before, and with this one.
  private val at = asked.io.deq
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
  private val pointer = string(0)
  private val size = string(1)
  // Whether the end is beyond memory, is looked at where the bytes are read.
  private val beyond = (pointer >> addressBits).orR

  beat.ready := at.valid && at.bits.isString && (!isWhole || source.ready)
  when(beat.fire) {
    index := Mux(isWhole, 0.U, index + 1.U)
    before := string
    wasFault := fault
  }
  source.valid := at.valid && (!at.bits.isString || (beat.valid && isWhole))
  at.ready := source.fire
  source.bits.task := at.bits
  source.bits.local.valid := false.B
  source.bits.local.bits := string(3) ## string(2)
  source.bits.status := Status.ok
  when(at.bits.isString) {
    source.bits.task.address := pointer
    source.bits.task.count := size
    source.bits.local.valid := pointer === at.bits.address + 16.U && size < 16.U
    source.bits.status := MuxCase(
      Status.ok,
      Seq(fault -> Status.accessFault, size(63, 31).orR -> Status.unsupported, beyond -> Status.accessFault)
    )
  }
}

/** Where string objects lie. */
object SerializerStrings {

  /** The last one of the beats that hold a string object, from 0. */
  def lastBeat(address: UInt, port: MemoryPortParams): UInt =
    (address(port.offsetBits - 1, 3) +& 3.U) >> log2Ceil(port.bytes / 8)
}
