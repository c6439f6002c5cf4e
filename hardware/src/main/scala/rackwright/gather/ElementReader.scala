package rackwright.gather

import chisel3._
import chisel3.util._

import rackwright.access.ReorderBuffer
import rackwright.port.MemoryPort

/** The response to a program that requests the next 8 bytes. */
class Piece extends Bundle {
  val value = UInt(64.W)
  val fault = Bool()
}

/** Requests the elements of indices, many at a time, and returns them in order. */
class ElementReader(params: Params) extends Module {
  val index = IO(Flipped(Decoupled(new Index)))
  val piece = IO(Decoupled(new Piece))

  /** Forget all; held until `quiet`. */
  val stop = IO(Input(Bool()))

  /** All requests have responses. */
  val quiet = IO(Output(Bool()))
  val memory = IO(new MemoryPort(params.table))

  /** An element that is only brought nearer could not be read. */
  val fault = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val clears = reset.asBool || stop
  private val scaled = withReset(clears)(Module(new Queue(new Index, 1, pipe = true)))
  private val asked = withReset(clears)(Module(new Queue(new Place, 1, pipe = true)))
  private val address = Reg(UInt(64.W))
  private val places = withReset(clears)(Module(new Queue(new Place, params.elements)))
  private val buffer = Module(new ReorderBuffer(params.table, params.elements))

  // The index in bytes, the address, and the request have a cycle each.
  scaled.io.enq.valid := index.valid
  index.ready := scaled.io.enq.ready
  scaled.io.enq.bits := index.bits
  scaled.io.enq.bits.value := index.bits.value << index.bits.table.elementShift
  private val sum = scaled.io.deq.bits.table.base + scaled.io.deq.bits.value
  asked.io.enq.valid := scaled.io.deq.valid
  scaled.io.deq.ready := asked.io.enq.ready
  asked.io.enq.bits.offset := sum
  asked.io.enq.bits.elementShift := scaled.io.deq.bits.table.elementShift
  asked.io.enq.bits.lastPiece := scaled.io.deq.bits.table.lastPiece
  asked.io.enq.bits.drops := scaled.io.deq.bits.drops
  when(asked.io.enq.fire) { address := sum }

  private val ready = asked.io.deq.valid && buffer.reserve.valid && places.io.enq.ready && !stop
  memory.request.valid := ready
  memory.request.bits.read(
    Cat(address(63, params.table.offsetBits), 0.U(params.table.offsetBits.W)),
    buffer.reserve.bits
  )
  private val sent = ready && memory.request.ready
  buffer.reserve.ready := sent
  asked.io.deq.ready := sent
  places.io.enq.valid := sent
  places.io.enq.bits := asked.io.deq.bits
  buffer.response <> memory.response
  buffer.clear := stop && buffer.quiet

  // Of a beat, the 8 bytes that hold the piece; then the piece itself.
  private val place = places.io.deq.bits
  private val number = RegInit(0.U(2.W))
  private val words = VecInit.tabulate(Params.beatBytes / 8)(word => buffer.beat.bits.data(64 * word + 63, 64 * word))
  private val chosen = withReset(clears)(Module(new Queue(new ChosenWord, 1, pipe = true)))
  private val there = places.io.deq.valid && buffer.beat.valid && !stop
  chosen.io.enq.valid := there && !place.drops
  chosen.io.enq.bits.word := words(place.offset(4, 3) + number)
  chosen.io.enq.bits.offset := place.offset(2, 0)
  chosen.io.enq.bits.elementShift := place.elementShift
  chosen.io.enq.bits.fault := buffer.beat.bits.fault
  private val takes = there && (place.drops || (chosen.io.enq.ready && number === place.lastPiece))
  buffer.beat.ready := takes
  places.io.deq.ready := takes
  when(chosen.io.enq.fire) { number := number + 1.U }
  when(takes || stop) { number := 0.U }
  fault := takes && place.drops && buffer.beat.bits.fault

  private val pieces = withReset(clears)(Module(new Queue(new Piece, 2)))
  pieces.io.enq.valid := chosen.io.deq.valid
  chosen.io.deq.ready := pieces.io.enq.ready
  pieces.io.enq.bits.value := chosen.io.deq.bits.value
  pieces.io.enq.bits.fault := chosen.io.deq.bits.fault
  piece <> pieces.io.deq

  quiet := buffer.quiet
  idle := buffer.quiet && buffer.still && !asked.io.deq.valid && !scaled.io.deq.valid && !chosen.io.deq.valid &&
    (!there || (!place.drops && !pieces.io.enq.ready)) && !buffer.beat.valid
}

/** The 8 bytes that hold a piece. */
class ChosenWord extends Bundle {
  val word = UInt(64.W)
  val offset = UInt(3.W)
  val elementShift = UInt(3.W)
  val fault = Bool()

  /** The piece, below zeros. */
  def value: UInt = {
    val moved = word >> Cat(offset, 0.U(3.W))
    val masks = VecInit((0 to 3).map(shift => ((BigInt(1) << (8 << shift)) - 1).U(64.W)))
    val mask = masks(Mux(elementShift > 3.U, 3.U, elementShift(1, 0)))
    Mux(fault, 0.U, moved & mask)
  }
}
