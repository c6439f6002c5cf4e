package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.stream.ByteChunk

/** Assembles a frame (RFC 8878, section 3.1.1): a header with the content size, the blocks, and the checksum. */
class FrameWriter extends Module {
  import FrameWriter.State

  /** Starts a frame: the size of its content in bytes, and whether it has a checksum. */
  val start = IO(Flipped(Valid(UInt(32.W))))
  val hashing = IO(Input(Bool()))

  /** The dictionary id; 0 is omitted. */
  val dictionaryId = IO(Input(UInt(32.W)))
  val blocks = IO(Flipped(Decoupled(new ByteChunk(8))))

  /** Every block has arrived. */
  val complete = IO(Input(Bool()))
  val hash = IO(Flipped(Valid(UInt(32.W))))
  val output = IO(Decoupled(new ByteChunk(FrameWriter.chunkBytes)))

  /** The last byte has been accepted. */
  val finished = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val length = RegEnable(start.bits, start.valid)
  private val named = dictionaryId =/= 0.U
  private val descriptor = Cat(2.U(2.W), 0.U(3.W), hashing, Fill(2, named))
  private val window = ((FrameWriter.windowLog - 10) << 3).U(8.W)
  private val fields = Mux(named, Cat(length, dictionaryId), length)
  private val head = Cat(fields, window, descriptor, FrameWriter.magic.U(32.W))
  private val headBytes = Mux(named, 14.U, 10.U)

  private def give(data: UInt, count: UInt): Unit = {
    output.bits.data := data.pad(8 * FrameWriter.chunkBytes).asTypeOf(output.bits.data)
    output.bits.count := count
  }
  blocks.ready := state === State.blocks && output.ready
  output.valid := state === State.head || (state === State.blocks && blocks.valid) ||
    (state === State.hash && hash.valid)
  give(blocks.bits.data.asUInt, blocks.bits.count)
  finished := state === State.ended
  switch(state) {
    is(State.idle) { when(start.valid) { state := State.head } }
    is(State.head) {
      give(head, headBytes)
      when(output.ready) { state := State.blocks }
    }
    is(State.blocks) { when(complete && !blocks.valid) { state := Mux(hashing, State.hash, State.ended) } }
    is(State.hash) {
      give(hash.bits, 4.U)
      when(output.fire) { state := State.ended }
    }
  }
}

/** Constants of the format and of the structure. */
object FrameWriter {
  val magic: Long = 0xfd2fb528L

  /** Every distance and block fits in a window of 128 KiB. */
  val windowLog: Int = 17
  val chunkBytes: Int = 16

  object State extends ChiselEnum {
    val idle, head, blocks, hash, ended = Value
  }
}
