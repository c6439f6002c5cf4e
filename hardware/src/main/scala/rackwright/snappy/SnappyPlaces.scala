package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.access.RangeBeat
import rackwright.port.MemoryPortParams

/** The meaning of one byte of the input if an element started there. */
class SnappyPlace(bytes: Int) extends Bundle {

  /** Byte after the element, counted from the beginning of the beat. */
  val end = UInt(log2Ceil(2 * bytes + 1).W)

  /** The beat ends at or before `end`; before it. */
  val leaves = Bool()
  val crosses = Bool()
  val literal = Bool()

  /** The tag byte alone determines the end of the element, and it is a copy or a literal of at most a beat. */
  val simple = Bool()
}

/** A beat of the input with the meanings of each of its bytes. The actual starts of elements are found later, by a
  * selection only.
  */
class PlacedBeat(val port: MemoryPortParams) extends Bundle {
  val beat = new RangeBeat(port)
  val places = Vec(port.bytes, new SnappyPlace(port.bytes))
}

/** Decoder of places. */
object PlacedBeat {

  /** `beat` with its places. */
  def apply(beat: RangeBeat): PlacedBeat = {
    val placed = Wire(new PlacedBeat(beat.port))
    placed.beat := beat
    for (i <- 0 until beat.port.bytes) placed.places(i) := place(beat.data(8 * i + 7, 8 * i), i, beat.port.bytes)
    placed
  }

  private def place(tag: UInt, at: Int, bytes: Int): SnappyPlace = {
    val result = Wire(new SnappyPlace(bytes))
    val kind = tag(1, 0)
    val upper = tag(7, 2)
    val lengthBits = log2Ceil(bytes)
    result.literal := kind === 0.U
    result.simple := kind =/= 0.U || (upper >> lengthBits) === 0.U
    result.end := MuxLookup(kind, (at + 2).U +& upper(lengthBits - 1, 0))(
      Seq(1.U -> (at + 2).U, 2.U -> (at + 3).U, 3.U -> (at + 5).U)
    )
    result.leaves := result.end >= bytes.U
    result.crosses := result.end > bytes.U
    result
  }
}
