package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.access.WriterRange
import rackwright.operation.OperationResult
import rackwright.port.Status
import rackwright.stream.{ByteChunk, WriterResult}

/** Writes the output of operations, one after the other, and reports their results. */
class AesEnding extends Module {
  import AesEnding.State

  val opened = IO(Flipped(Decoupled(new OpenedOperation)))
  val piece = IO(Flipped(Decoupled(new OutputPiece)))
  val result = IO(Decoupled(new OperationResult))

  /** To and from the writer. */
  val start = IO(Decoupled(new WriterRange))
  val chunk = IO(Decoupled(new ByteChunk(16)))
  val finish = IO(Output(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  private val state = RegInit(State.idle)
  private val status = Reg(UInt(Status.width.W))
  private val offset = Reg(UInt(64.W))

  private val refused = opened.bits.refused
  start.valid := state === State.idle && opened.valid && !refused
  start.bits := opened.bits.range
  private val writes = state === State.writing && piece.valid
  private val hasBytes = piece.bits.bytes =/= 0.U
  chunk.valid := writes && hasBytes
  chunk.bits.data := piece.bits.data.asTypeOf(chunk.bits.data)
  chunk.bits.count := piece.bits.bytes
  piece.ready := state === State.writing && (chunk.ready || !hasBytes)
  finish := piece.fire && piece.bits.end

  private val failed = status =/= Status.ok
  private val full = written.bits.status === Status.outputFull
  result.valid := Mux(state === State.ending, written.valid, state === State.idle && opened.valid && refused)
  result.bits.status := Mux(failed, status, written.bits.status)
  result.bits.outputBytes := written.bits.written
  result.bits.inputOffset := MuxCase(
    opened.bits.length,
    Seq(
      (status === Status.malformed) -> (opened.bits.length - 16.U),
      failed -> offset,
      full -> written.bits.written
    )
  )
  when(refused) { result.bits := opened.bits.refusal }
  written.ready := state === State.ending && result.ready
  opened.ready := result.fire

  when(start.fire) { state := State.writing }
  when(finish) {
    state := State.ending
    status := piece.bits.status
    offset := piece.bits.data(63, 0)
  }
  when(written.fire) { state := State.idle }
}

object AesEnding {
  object State extends ChiselEnum {
    val idle, writing, ending = Value
  }
}
