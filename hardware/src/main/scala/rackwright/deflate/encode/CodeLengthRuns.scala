package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat

/** A symbol of the code length alphabet (RFC 1951, section 3.2.7), with its extra bits. */
class DescribingItem extends Bundle {
  val symbol = UInt(5.W)
  val extra = UInt(7.W)
  val extraBits = UInt(3.W)
}

/** A code length to read: of a literal/length symbol, or of a distance symbol. */
class CodeLengthPlace extends Bundle {
  val symbol = UInt(log2Ceil(TokenFormat.literalSymbols).W)
  val isDistance = Bool()
}

/** Traverses the lengths of both codes, and run-length encodes them. */
class CodeLengthRuns extends Module {
  private val lengthBits = 4
  private val ahead = 6

  /** Starts; the last symbol of each code. */
  val start = IO(Flipped(Valid(new Bundle {
    val literal = UInt(log2Ceil(TokenFormat.literalSymbols).W)
    val distance = UInt(log2Ceil(TokenFormat.distanceSymbols).W)
  })))

  /** The symbol to read, whose length arrives two cycles later. */
  val place = IO(Valid(new CodeLengthPlace))
  val length = IO(Input(UInt(lengthBits.W)))

  /** At most one item per cycle; the second signal: all have been emitted. */
  val item = IO(Valid(new DescribingItem))
  val done = IO(Output(Bool()))

  // Prefetches the lengths.
  private val reading = RegInit(false.B)
  private val at = Reg(new CodeLengthPlace)
  private val queue = Module(new Queue(UInt(lengthBits.W), ahead))
  private val held = RegInit(0.U(log2Ceil(ahead + 1).W))
  place.valid := reading && held =/= ahead.U
  place.bits := at
  when(place.valid) {
    at.symbol := at.symbol + 1.U
    when(!at.isDistance && at.symbol === start.bits.literal) {
      at.symbol := 0.U
      at.isDistance := true.B
    }
    when(at.isDistance && at.symbol === start.bits.distance) { reading := false.B }
  }
  queue.io.enq.valid := RegNext(RegNext(place.valid, false.B), false.B)
  queue.io.enq.bits := length
  held := held + place.valid - queue.io.deq.fire

  // The open run: of zeros, or of repeats of the last emitted length.
  private val active = RegInit(false.B)
  private val value = Reg(UInt(lengthBits.W))
  private val known = RegInit(false.B)
  private val run = Reg(UInt(8.W))
  private val next = queue.io.deq
  private val isZero = value === 0.U
  private val grows = next.valid && known && next.bits === value
  private val longest = Mux(isZero, CodeLengthRuns.mostZeros.U, CodeLengthRuns.mostRepeats.U)
  private val isFull = run === longest
  private val ended = !reading && held === 0.U
  private val flushes = active && run =/= 0.U && (isFull || (next.valid && !grows) || ended)
  next.ready := active && !flushes
  private val asRun = run >= CodeLengthRuns.leastRun.U
  private val single = Wire(new DescribingItem)
  single.symbol := Mux(flushes, value, next.bits)
  single.extra := 0.U
  single.extraBits := 0.U
  private val several = Wire(new DescribingItem)
  private val many = isZero && run >= CodeLengthRuns.leastManyZeros.U
  several.symbol := Mux(isZero, Mux(many, CodeLengthRuns.manyZeros.U, CodeLengthRuns.zeros.U), CodeLengthRuns.repeat.U)
  several.extra := run - Mux(many, CodeLengthRuns.leastManyZeros.U, CodeLengthRuns.leastRun.U)
  several.extraBits := Mux(isZero, Mux(many, 7.U, 3.U), 2.U)
  private val begins = next.fire && !grows
  item.valid := RegNext(flushes || (begins && next.bits =/= 0.U), false.B)
  item.bits := RegNext(Mux(flushes && asRun, several, single))
  when(flushes) { run := Mux(asRun, 0.U, run - 1.U) }
  when(next.fire) {
    known := true.B
    value := next.bits
    run := Mux(grows, run + 1.U, next.bits === 0.U)
  }
  done := active && ended && run === 0.U && !item.valid
  when(done) { active := false.B }
  when(start.valid) {
    reading := true.B
    active := true.B
    known := false.B
    run := 0.U
    at := 0.U.asTypeOf(at)
  }
}

/** The run symbols of RFC 1951, section 3.2.7. */
object CodeLengthRuns {
  val symbols: Int = 19
  val repeat: Int = 16
  val zeros: Int = 17
  val manyZeros: Int = 18
  val leastRun: Int = 3
  val mostRepeats: Int = 6
  val leastManyZeros: Int = 11
  val mostZeros: Int = 138

  /** The order in which the lengths of the code length code are given. */
  val order: Seq[Int] = Seq(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
}
