package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.deflate.TokenFormat._
import rackwright.entropy.huffman.HuffmanPacker

/** A run of literals, followed by a copy, which may be empty. */
class TokenSequence extends Bundle {
  val literals = UInt(TokenSequence.literalBits.W)

  /** Length of the copy; 0 for none. */
  val length = UInt(9.W)
  val distance = UInt(16.W)
}

object TokenSequence {

  /** Width of a number of literals: a stored block has up to 65535. */
  val literalBits: Int = 16
}

/** Converts parts of chunks to literals and sequences. It never stalls: literals have a latency of three cycles,
  * sequences of four.
  */
class TokenValues(bits: Int) extends Module {

  /** A sequence without copy is issued when it has this many literals. */
  private val enough = 32
  private val countBits = log2Ceil(bits + 1)

  /** A block starts: drops what is left of the block before. */
  val clear = IO(Input(Bool()))
  val part = IO(Flipped(Valid(new TokenPart(bits))))
  val literals = IO(Valid(Vec(bits, UInt(8.W))))
  val literalCount = IO(Output(UInt(countBits.W)))
  val sequence = IO(Valid(new TokenSequence))

  /** Everything of the block has been issued. */
  val flushed = IO(Output(Bool()))

  private val live = !clear
  private def follow(valid: Bool): Bool = RegNext(valid && live, false.B)

  private val packer = Module(new HuffmanPacker(bits))
  packer.clear := clear
  packer.input.valid := part.valid
  packer.input.bits := VecInit(part.bits.measured.literals.map(_.value))
  packer.keep := part.bits.literals
  literals.valid := RegNext(packer.output.valid && packer.count =/= 0.U && live, false.B)
  literals.bits := RegEnable(packer.output.bits, packer.output.valid)
  literalCount := RegEnable(packer.count, packer.output.valid)

  // First stage: selects the bits of the codes.
  private class Chosen(reach: Int) extends Bundle {
    val there = Bool()
    val value = UInt(5.W)
    val step = UInt(log2Ceil(distanceReach + 1).W)
    val window = UInt(reach.W)
  }
  private def choose(at: UInt, reach: Int, steps: Seq[UInt], values: Seq[UInt]): Chosen = {
    val chosen = Wire(new Chosen(reach))
    chosen.there := at.orR
    chosen.value := Mux1H(at.asBools, values)(4, 0)
    chosen.step := Mux1H(at.asBools, steps)
    chosen.window := Mux1H(at.asBools, (0 until bits).map(i => part.bits.measured.window(i + reach - 1, i)))
    RegEnable(chosen, part.valid)
  }
  private val (steps, values) = part.bits.measured.literals.map(t => (t.step, t.value)).unzip
  private val (farSteps, farValues) = part.bits.measured.distances.map(t => (t.step, t.value)).unzip
  private val length = choose(part.bits.length, lengthReach, steps, values)
  private val pending = choose(part.bits.pending, lengthReach, steps, values)
  private val distance = choose(part.bits.distance, distanceReach, farSteps, farValues)
  private val all = RegEnable(PopCount(part.bits.literals), part.valid)
  private val before = RegEnable(PopCount(part.bits.before), part.valid)
  private val stops = RegEnable(part.bits.stops, part.valid)

  // Second stage: selects the extra bits.
  private val choosing = follow(part.valid)
  private class Extra(most: Int) extends Bundle {
    val there = Bool()
    val value = UInt(5.W)
    val bits = UInt(most.W)
  }
  private def extra(chosen: Chosen, behind: UInt, most: Int): Extra = {
    val result = Wire(new Extra(most))
    result.there := chosen.there
    result.value := chosen.value
    result.bits := (chosen.window >> (chosen.step - behind))(most - 1, 0)
    RegEnable(result, choosing)
  }
  private val lengthBits = extra(length, lengthExtraBits(length.value), lengthExtra)
  private val pendingBits = extra(pending, lengthExtraBits(pending.value), lengthExtra)
  private val distanceBits = extra(distance, distanceExtraBits(distance.value), distanceExtra)
  private val allShifted = RegEnable(all, choosing)
  private val beforeShifted = RegEnable(before, choosing)
  private val stopsShifted = RegEnable(stops, choosing)

  // Third stage: lengths and distances.
  private val shifting = follow(choosing)
  private val lengthThere = RegEnable(lengthBits.there, shifting)
  private val lengthHere = RegEnable(TokenFormat.length(lengthBits.value, lengthBits.bits), shifting)
  private val pendingThere = RegEnable(pendingBits.there, shifting)
  private val pendingHere = RegEnable(TokenFormat.length(pendingBits.value, pendingBits.bits), shifting)
  private val copies = RegEnable(distanceBits.there, shifting)
  private val far = RegEnable(TokenFormat.distance(distanceBits.value, distanceBits.bits), shifting)
  private val countAll = RegEnable(allShifted, shifting)
  private val countBefore = RegEnable(beforeShifted, shifting)
  private val last = RegEnable(stopsShifted, shifting)

  // Fourth stage: sequences.
  private val summing = follow(shifting)
  private val waiting = Reg(UInt(log2Ceil(enough + bits + 1).W))
  private val waitingLength = Reg(UInt(9.W))
  private val flushing = RegInit(false.B)
  private val done = RegInit(false.B)
  private val sum = waiting +& Mux(copies, countBefore, countAll)
  private val full = sum >= enough.U
  when(summing) {
    waiting := Mux(copies, countAll - countBefore, Mux(full, 0.U, sum))
    when(pendingThere) { waitingLength := pendingHere }
  }
  flushing := summing && last
  when(flushing) { done := true.B }
  when(clear) {
    waiting := 0.U
    flushing := false.B
    done := false.B
  }
  sequence.valid := live && ((summing && (copies || full)) || (flushing && waiting =/= 0.U))
  sequence.bits.literals := Mux(flushing, waiting, sum)
  sequence.bits.length := Mux(copies && !flushing, Mux(lengthThere, lengthHere, waitingLength), 0.U)
  sequence.bits.distance := far
  flushed := done
}
