package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.ReorderBuffer
import rackwright.port.{MemoryPort, MemoryPortParams, MemoryRequest}
import rackwright.protobuf.map.LoadedWord
import rackwright.protobuf.table.DescriptorTable

/** Splits arrays of strings into their strings, the last one first; the pointers of several arrays are prefetched, so
  * that the walk does not wait for them. Other strings and arrays pass through in order.
  *
  * @param port
  *   parameters of the memory port; tags of 4 bits or more.
  */
class SerializerPointers(port: MemoryPortParams) extends Module {
  import SerializerPointers._
  private val wordBits = log2Ceil(port.bytes / 8)

  /** Strings and arrays. */
  val task = IO(Flipped(Decoupled(new FieldTask)))

  /** The same, with single strings, and arrays of numbers. */
  val single = IO(Decoupled(new FieldTask))

  /** The request whose output is abandoned: its array ends soon. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  // The addresses of the first and the last pointer of the array.
  private class Placed extends Bundle {
    val task = new FieldTask
    val first = UInt((DescriptorTable.addressBits - 3).W)
    val last = UInt((DescriptorTable.addressBits - 3).W)
  }
  private val placed = Wire(Decoupled(new Placed))
  placed.valid := task.valid
  task.ready := placed.ready
  placed.bits.task := task.bits
  placed.bits.first := (task.bits.address >> 3) + 1.U
  placed.bits.last := (task.bits.address >> 3) + task.bits.count

  // Beats are requested in descending order; each with the offsets of its pointers.
  private class Mark extends Bundle {
    val top = UInt(wordBits.W)
    val floor = UInt(wordBits.W)
    val isLast = Bool()
  }
  private val asking = Queue(placed, 1, pipe = true)
  private val asked = Module(new Queue(new FieldTask, ahead))
  private val marks = Module(new Queue(new Mark, beats + 4))
  private val requests = Module(new Queue(new MemoryRequest(port), 2))
  private val buffer = Module(new ReorderBuffer(port, beats))
  buffer.clear := false.B
  buffer.response <> memory.response
  memory.request <> requests.io.deq

  private val begun = RegInit(false.B)
  private val below = Reg(UInt((DescriptorTable.addressBits - port.offsetBits).W))
  private val at = asking.bits
  private val number = Mux(begun, below, at.last >> wordBits)
  private val isCut = RegNext(givenUp.valid && givenUp.bits === at.task.request, false.B) && begun
  private val isFirst = number === at.first >> wordBits
  private val room = buffer.reserve.valid && marks.io.enq.ready && requests.io.enq.ready
  private val asks = asking.valid && at.task.isArray && room && (begun || asked.io.enq.ready)
  private val isOver = isFirst || isCut
  requests.io.enq.valid := asks
  requests.io.enq.bits.read(number << port.offsetBits, buffer.reserve.bits)
  buffer.reserve.ready := asks
  marks.io.enq.valid := asks
  marks.io.enq.bits.top := Mux(begun, ~0.U(wordBits.W), at.last(wordBits - 1, 0))
  marks.io.enq.bits.floor := Mux(isFirst, at.first(wordBits - 1, 0), 0.U)
  marks.io.enq.bits.isLast := isOver
  asked.io.enq.valid := asking.valid && (!at.task.isArray || (asks && !begun))
  asked.io.enq.bits := at.task
  asking.ready := Mux(at.task.isArray, asks && isOver, asked.io.enq.ready)
  when(asks) {
    begun := !isOver
    below := number - 1.U
  }

  // The pointers of a beat, from its top to its bottom.
  private val now = asked.io.deq
  private val (beat, mark) = (buffer.beat, marks.io.deq)
  private val fresh = RegInit(true.B)
  private val next = Reg(UInt(wordBits.W))
  private val place = Mux(fresh, mark.bits.top, next)
  private val word = beat.bits.data.asTypeOf(Vec(port.bytes / 8, UInt(64.W)))(place)
  private val endsBeat = place === mark.bits.floor
  private val ends = endsBeat && mark.bits.isLast
  private val found = Wire(Decoupled(new FieldTask))
  found.valid := now.valid && (!now.bits.isArray || (beat.valid && mark.valid))
  found.bits := now.bits
  when(now.bits.isArray) {
    found.bits.isArray := false.B
    found.bits.address := word(DescriptorTable.addressBits - 1, 0)
    found.bits.isWild := beat.bits.fault || LoadedWord.isWild(word)
    found.bits.continues := !ends
  }
  private val taken = found.fire && now.bits.isArray
  beat.ready := taken && endsBeat
  mark.ready := taken && endsBeat
  now.ready := found.fire && (!now.bits.isArray || ends)
  when(taken) {
    fresh := endsBeat
    next := place - 1.U
  }
  single <> Queue(found, 2)
}

/** Constants of [[SerializerPointers]]. */
object SerializerPointers {

  /** Strings and arrays that may wait for pointers, and beats of pointers to prefetch. */
  private val ahead: Int = 8
  private val beats: Int = 16
}
