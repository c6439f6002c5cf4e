package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.lz77.encode.EncoderParams

/** A run of literals, followed by a match. */
class FoundMatch(params: ZstdCompressorParams) extends Bundle {
  val literals = UInt(params.countBits.W)
  val matched = UInt(params.countBits.W)
  val distance = UInt(EncoderParams.distanceBits.W)
}

/** The same, with the `Offset_Value` of RFC 8878, section 3.1.1.3.2.1.1, in place of the distance. */
class NumberedMatch(params: ZstdCompressorParams) extends Bundle {
  val literals = UInt(params.countBits.W)
  val matched = UInt(params.countBits.W)
  val offsetValue = UInt((EncoderParams.distanceBits + 1).W)
}

/** Detects offsets that repeat one of the last three (RFC 8878, section 3.1.1.5). */
class RepeatedOffsets(params: ZstdCompressorParams) extends Module {

  /** Starts a frame with these as the last three offsets; 0 stands for one that exceeds every distance. */
  val start = IO(Flipped(Valid(Vec(3, UInt(EncoderParams.distanceBits.W)))))
  val found = IO(Flipped(Valid(new FoundMatch(params))))

  /** The result, one cycle later. */
  val coded = IO(Valid(new NumberedMatch(params)))

  private val recent = Reg(Vec(3, UInt(EncoderParams.distanceBits.W)))
  private val distance = found.bits.distance
  private val direct = found.bits.literals =/= 0.U
  private val isRecent = recent.map(_ === distance)
  private val isLess = recent(0) - 1.U === distance

  /** After a match without literals between, values 1 to 3 stand for the second, the third, and the first minus one. */
  private val hits = Mux(
    direct,
    VecInit(isRecent).asUInt,
    Cat(isLess, isRecent(2), isRecent(1))
  )
  private val value = Wire(UInt((EncoderParams.distanceBits + 1).W))
  value := Mux(hits.orR, PriorityEncoder(hits) + 1.U, distance +& 3.U)

  // A repeated offset moves to the front, whatever its value; a new one evicts the oldest.
  private val repeatsFirst = Mux(direct, hits(0), false.B)
  private val repeatsSecond = Mux(direct, !hits(0) && hits(1), hits(0))
  when(found.valid && !repeatsFirst) {
    recent(0) := distance
    recent(1) := recent(0)
    when(!repeatsSecond) { recent(2) := recent(1) }
  }
  when(start.valid) { recent := start.bits }
  coded.valid := RegNext(found.valid, false.B)
  coded.bits.literals := RegNext(found.bits.literals)
  coded.bits.matched := RegNext(found.bits.matched)
  coded.bits.offsetValue := RegNext(value)
}
