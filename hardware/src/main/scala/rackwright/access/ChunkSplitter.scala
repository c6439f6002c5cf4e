package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.stream.ByteChunk

/** Passes on chunks in parts of at most `maximum` bytes; narrower chunks pass in the same cycle.
  *
  * @param wideBytes
  *   maximum number of bytes of an accepted chunk; a multiple of `maximum` if it is more.
  * @param maximum
  *   the most bytes of a part.
  */
class ChunkSplitter(wideBytes: Int, maximum: Int) extends Module {

  /** Maximum number of bytes of a part: the requested number, or less if chunks are narrower. */
  val narrowBytes: Int = wideBytes.min(maximum)
  require(wideBytes % narrowBytes == 0, s"a chunk of $wideBytes bytes can't be split into parts of $narrowBytes")

  /** Restarts: a producer that stops early may have withdrawn a chunk of which a part was passed on. */
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
