package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.stream.ByteChunk

/** Hands chunks on in parts of at most `maximum` bytes; chunks that are no wider pass in the same cycle.
  *
  * @param wideBytes
  *   the most bytes of a chunk taken; a multiple of `maximum` where it is more.
  * @param maximum
  *   the most bytes of a part.
  */
class ChunkSplitter(wideBytes: Int, maximum: Int) extends Module {

  /** The most bytes of a part: what was asked for, or less where chunks are narrower. */
  val narrowBytes: Int = wideBytes.min(maximum)
  require(wideBytes % narrowBytes == 0, s"a chunk of $wideBytes bytes can't be split into parts of $narrowBytes")

  /** Begin afresh: a producer that stops early may have taken a chunk back of which a part was handed on. */
  val clear = IO(Input(Bool()))

  /** Chunks as the producer makes them. */
  val wide = IO(Flipped(Decoupled(new ByteChunk(wideBytes))))

  /** Their parts. */
  val narrow = IO(Decoupled(new ByteChunk(narrowBytes)))

  private val parts = wideBytes / narrowBytes
  if (parts == 1) narrow <> wide else split()

  private def split(): Unit = {
    val part = RegInit(0.U(log2Ceil(parts).W))
    val offset = part * narrowBytes.U
    val left = wide.bits.count - offset
    val isLast = left <= narrowBytes.U
    narrow.valid := wide.valid
    narrow.bits.count := Mux(isLast, left(narrow.bits.count.getWidth - 1, 0), narrowBytes.U)
    narrow.bits.data := VecInit(
      (0 until parts).map(i => VecInit(wide.bits.data.slice(i * narrowBytes, (i + 1) * narrowBytes)))
    )(part)
    wide.ready := narrow.ready && isLast
    when(narrow.fire) { part := Mux(isLast, 0.U, part + 1.U) }
    when(clear) { part := 0.U }
  }
}
