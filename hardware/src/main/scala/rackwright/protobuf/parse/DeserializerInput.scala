package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.access.{ReservationBuffer, StreamWindow}
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.stream.{ByteStream, HeadQueue, StreamRange}

/** Streams the inputs of consecutive requests, and prefetches the next input while the consumer is busy.
  *
  * @param ranges
  *   capacity of the queue of inputs.
  */
class DeserializerInput(port: MemoryPortParams, outstanding: Int, ranges: Int) extends Module {
  private val numberBits = port.addressBits - port.offsetBits
  private val beatsBits = 32 - port.offsetBits + 1

  /** Inputs in streaming order; no range wraps around, and none is longer than 2^31 bytes. */
  val range = IO(Flipped(Decoupled(new StreamRange)))

  /** Start to stream the next input; `begin.ready` signals that it is known and that the previous one has been consumed
    * or discarded.
    */
  val begin = IO(new Bundle {
    val valid = Input(Bool())
    val ready = Output(Bool())
  })

  /** Discard the rest of the input. */
  val stop = IO(Input(Bool()))

  /** The bytes of the current input. */
  val stream = IO(new ByteStream(port.bytes))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No byte is left to consume, and no read is outstanding. */
  val idle = IO(Output(Bool()))

  private val buffer = Module(new ReservationBuffer(port, outstanding))
  private val window = Module(new StreamWindow(port.bytes, port.bytes))
  private def beatsOf(range: StreamRange): UInt = {
    val offset = range.address(port.offsetBits - 1, 0)
    Mux(range.length === 0.U, 0.U, (range.length(31, 0) +& offset + (port.bytes - 1).U) >> port.offsetBits)
  }

  // Requests, one range after the other. `asking` and `offering` count ranges, to detect whether both are at the same
  // one.
  private val offers = Module(new HeadQueue(new StreamRange, ranges))
  private val asks = Module(new Queue(new StreamRange, ranges))
  private val askNumber = Reg(UInt(numberBits.W))
  private val askLeft = RegInit(0.U(beatsBits.W))
  private val asking = RegInit(0.U(5.W))
  private val offering = RegInit(0.U(5.W))
  offers.in.valid := range.valid && asks.io.enq.ready
  asks.io.enq.valid := range.valid && offers.in.ready
  range.ready := offers.in.ready && asks.io.enq.ready
  offers.in.bits := range.bits
  asks.io.enq.bits := range.bits

  asks.io.deq.ready := askLeft === 0.U
  memory.request.valid := askLeft =/= 0.U && buffer.reserve.valid
  buffer.reserve.ready := askLeft =/= 0.U && memory.request.ready
  memory.request.bits.read(Cat(askNumber, 0.U(port.offsetBits.W)), buffer.reserve.bits)
  when(asks.io.deq.fire) {
    askNumber := asks.io.deq.bits.address >> port.offsetBits
    askLeft := beatsOf(asks.io.deq.bits)
    asking := asking + 1.U
  }.elsewhen(memory.request.fire) {
    askNumber := askNumber + 1.U
    askLeft := askLeft - 1.U
  }

  // Output: the beats of the buffer up to the end of the range; after a stop they are discarded.
  private val offerLeft = RegInit(0.U(beatsBits.W))
  private val dropping = RegInit(false.B)
  private val starts = begin.valid && begin.ready
  // Registered, as a whole request waits for it; once true, only a start clears it.
  private val mayStart = offers.out.valid && offerLeft === 0.U && asking =/= offering
  begin.ready := RegNext(mayStart && !starts, false.B)
  offers.out.ready := starts
  buffer.clear := false.B
  buffer.response <> memory.response
  window.start.valid := starts
  window.start.bits := offers.out.bits
  window.unreadable := false.B
  window.stop := stop
  window.beat.valid := buffer.beat.valid && offerLeft =/= 0.U && !dropping
  window.beat.bits := buffer.beat.bits
  buffer.beat.ready := offerLeft =/= 0.U && (dropping || window.beat.ready)
  stream <> window.stream

  private val taken = buffer.beat.fire
  // The part of a discarded range that has not been requested from memory never will be.
  private val cut = stop && asking === offering && askLeft =/= 0.U
  private val notAsked = Mux(cut, askLeft - memory.request.fire, 0.U)
  when(starts) {
    offering := offering + 1.U
    offerLeft := beatsOf(offers.out.bits)
    dropping := false.B
  }.otherwise {
    offerLeft := offerLeft - taken - notAsked
    when(stop) { dropping := true.B }
  }
  when(cut) { askLeft := 0.U }

  idle := buffer.quiet && window.finished && askLeft === 0.U && offerLeft === 0.U && offers.count === 0.U &&
    !asks.io.deq.valid
}
