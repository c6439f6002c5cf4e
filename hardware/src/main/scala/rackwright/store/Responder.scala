package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.stream.{ByteChunk, Lines}

/** Writes responses: the header of each, and the value from memory. */
class Responder(params: Params) extends Module {
  val response = IO(Flipped(Decoupled(new Response)))
  val range = IO(Decoupled(new ValueRange))
  val beat = IO(Flipped(Decoupled(new LoadedBeat(Grain.bytes))))
  val chunk = IO(Decoupled(new ByteChunk(Grain.bytes)))

  /** Memory refused an access to a value. */
  val fault = IO(Output(Bool()))

  /** Every response has been written. */
  val empty = IO(Output(Bool()))

  /** Every range of values has been requested from memory. */
  val asked = IO(Output(Bool()))

  // The value is requested when the response arrives; its header waits in a queue.
  private val headers = Module(new Queue(new Response, params.lookups))
  private val ranges = Module(new Queue(new ValueRange, 2))
  private val hasValue = response.bits.valueBytes =/= 0.U
  response.ready := headers.io.enq.ready && ranges.io.enq.ready
  headers.io.enq.valid := response.fire
  headers.io.enq.bits := response.bits
  ranges.io.enq.valid := response.fire && hasValue
  ranges.io.enq.bits.place := response.bits.valuePlace
  ranges.io.enq.bits.bytes := response.bits.valueBytes
  range <> ranges.io.deq

  private val inValue = RegInit(false.B)
  private val left = Reg(UInt(Limits.valueBits.W))
  private val output = Module(new Queue(new ByteChunk(Grain.bytes), 2))
  private val now = headers.io.deq
  private val bytes = Mux(left > Grain.bytes.U, Grain.bytes.U, left(Grain.shift, 0))
  output.io.enq.valid := Mux(inValue, beat.valid, now.valid)
  private val headerBytes =
    Mux(now.bits.hasVersion, (RequestHeader.bytes + RequestHeader.versionBytes).U, RequestHeader.bytes.U)
  private val data = Mux(
    inValue,
    beat.bits.data & FillInterleaved(8, Lines.mask(bytes, Grain.bytes)),
    now.bits.header.pad(8 * Grain.bytes)
  )
  output.io.enq.bits.data := data.asTypeOf(output.io.enq.bits.data)
  output.io.enq.bits.count := Mux(inValue, (bytes + 7.U) & ~7.U((Grain.shift + 1).W), headerBytes)
  now.ready := !inValue && output.io.enq.ready
  beat.ready := inValue && output.io.enq.ready
  when(now.fire) {
    left := now.bits.valueBytes
    inValue := now.bits.valueBytes =/= 0.U
  }
  when(beat.fire) {
    left := left - bytes
    inValue := left > Grain.bytes.U
  }
  fault := beat.fire && beat.bits.fault
  chunk <> output.io.deq
  asked := !range.valid
  empty := !now.valid && !inValue && !chunk.valid && !range.valid
}
