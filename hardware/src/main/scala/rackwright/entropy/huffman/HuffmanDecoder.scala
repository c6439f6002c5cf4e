package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.{BackwardBeat, BackwardBits}
import rackwright.port.MemoryPortParams

/** A Huffman stream: its size in bytes, and its number of symbols. */
class HuffmanStream extends Bundle {
  val bytes = UInt(BackwardBits.lengthBits.W)
  val symbols = UInt(BackwardBits.lengthBits.W)
}

/** Symbols decoded in one cycle, the first `count` of `bytes`. */
class HuffmanSymbols(val most: Int) extends Bundle {
  val bytes = Vec(most, UInt(8.W))
  val count = UInt(log2Ceil(most + 1).W)
}

/** Decodes Huffman streams speculatively, `bits` bits per cycle: a code may start at each of these bits.
  *
  * [[HuffmanLengths]] determines the length of a code at every bit. [[HuffmanExits]] computes for every bit at which
  * the first code of a chunk may start where the first code of the next chunk starts, so that the loop from chunk to
  * chunk is a selection among twelve numbers. [[HuffmanStarts]] then marks the starts of codes, whose symbols are
  * looked up. The pipeline never stalls: chunks enter while there is space for everything in flight.
  *
  * @param port
  *   shape of the beats.
  * @param bits
  *   bits per cycle, at most 32.
  */
class HuffmanDecoder(port: MemoryPortParams, bits: Int) extends Module {
  private val most = HuffmanCode.mostBits
  private val reach = bits + most - 1

  /** The next stream; its beats follow those of the stream before. */
  val stream = IO(Flipped(Decoupled(new HuffmanStream)))
  val beat = IO(Flipped(Decoupled(new BackwardBeat(port))))
  val code = IO(Input(new HuffmanCode))
  val place = IO(Flipped(Valid(new HuffmanPlace)))

  /** Abandons all streams. */
  val clear = IO(Input(Bool()))

  /** The consumer has space for all symbols that may be in flight. */
  val roomy = IO(Input(Bool()))
  val output = IO(Valid(new HuffmanSymbols(bits)))

  /** Every accepted stream has been decoded. */
  val idle = IO(Output(Bool()))

  /** A stream is invalid; its bytes cannot be read. Held until `clear`. */
  val wrong = IO(Output(Bool()))
  val fault = IO(Output(Bool()))

  private val width = 128
  private val reader = Module(new BackwardBits(port, width, Some(bits)))
  private val busy = RegInit(false.B)
  private val current = Reg(new HuffmanStream)
  private val failed = RegInit(false.B)

  stream.ready := !busy
  reader.begin.valid := stream.fire
  reader.begin.bits := stream.bits.bytes
  reader.beat <> beat
  reader.clear := clear
  when(stream.fire) {
    busy := true.B
    current := stream.bits
  }

  // A chunk: its bits, and those that its last code may extend to.
  private val isLast = reader.left <= bits.S
  private val go = busy && reader.open && roomy && reader.count >= reach.U
  private val first = RegInit(true.B)
  reader.take.valid := go
  reader.take.bits := bits.U
  when(go) {
    first := isLast
    when(isLast) { busy := false.B }
  }

  private val chunk = Wire(Valid(new HuffmanChunk(bits)))
  chunk.valid := go
  chunk.bits.window := reader.window(width - 1, width - reach)
  chunk.bits.first := first
  chunk.bits.last := isLast
  chunk.bits.left := Mux(isLast, reader.left(log2Ceil(bits + 1) - 1, 0).asUInt, bits.U)
  chunk.bits.symbols := current.symbols

  private val live = !clear
  private def next[T <: Data](from: Valid[T]): Valid[T] = {
    val register = Wire(Valid(chiselTypeOf(from.bits)))
    register.valid := RegNext(from.valid && live, false.B)
    register.bits := RegEnable(from.bits, from.valid)
    register
  }

  private val lengths = Module(new HuffmanLengths(bits))
  lengths.input := next(chunk)
  lengths.code := code
  private val exits = Module(new HuffmanExits(bits))
  exits.clear := clear
  exits.input := next(lengths.output)

  // The loop from chunk to chunk.
  private val entry = Reg(UInt(4.W))
  private val here = Mux(exits.output.bits.chunk.first, 0.U, entry)
  private val chosen = exits.exits(here)
  when(exits.output.valid) { entry := chosen }
  private val starts = Module(new HuffmanStarts(bits))
  starts.clear := clear
  starts.input := next(exits.output)
  starts.entry := RegEnable(here, exits.output.valid)

  // Looks up symbols: their indices, packed, then the symbols.
  private val marked = next(starts.output)
  private val at = RegEnable(starts.starts, starts.output.valid)
  private val ends = RegEnable(starts.ends, starts.output.valid)
  private val counted = RegEnable(PopCount(starts.starts), starts.output.valid)
  private val packer = Module(new HuffmanPacker(bits))
  packer.input.valid := marked.valid
  packer.input.bits := VecInit((0 until bits).map { i =>
    val value = marked.bits.chunk.code(i)
    Mux1H(
      marked.bits.lengths(i),
      (1 to most).map(length => (code.places(length - 1) + (value >> (most - length)))(7, 0))
    )
  })
  packer.keep := at
  packer.clear := clear
  private val symbols = Reg(Vec(HuffmanCode.symbols, UInt(8.W)))
  when(place.valid) { symbols(place.bits.place) := place.bits.symbol }
  output.valid := RegNext(packer.output.valid && live, false.B)
  output.bits.count := RegEnable(packer.count, packer.output.valid)
  output.bits.bytes := RegEnable(VecInit(packer.output.bits.map(symbols(_))), packer.output.valid)

  // The end of a stream: the expected number of symbols, the last of which ends with the last bit.
  private val made = RegInit(0.U((BackwardBits.lengthBits + 1).W))
  private val total = made + counted
  private val ended = RegNext(marked.valid && marked.bits.chunk.last, false.B)
  private val exact = RegNext(ends && total === marked.bits.chunk.symbols)
  when(marked.valid) { made := Mux(marked.bits.chunk.last, 0.U, total) }
  private val tooMany = RegNext(marked.valid && total > marked.bits.chunk.symbols, false.B)
  when((ended && !exact) || tooMany || (busy && reader.unmarked)) { failed := true.B }
  when(clear) {
    busy := false.B
    first := true.B
    made := 0.U
    failed := false.B
  }
  wrong := failed
  fault := reader.fault
  idle := !busy && !chunk.valid && !lengths.input.valid && !exits.busy && !starts.busy && !marked.valid && !ended &&
    !packer.busy && !output.valid
}

/** The bits at which codes may start, with their properties. */
class HuffmanChunk(val bits: Int) extends Bundle {

  /** The bits, followed by those that the last code may extend to, the first one highest. */
  val window = UInt((bits + HuffmanCode.mostBits - 1).W)

  /** The first and the last chunk of its stream. */
  val first = Bool()
  val last = Bool()

  /** Number of bits at which codes may start: those of the stream. */
  val left = UInt(log2Ceil(bits + 1).W)

  /** Number of symbols of the stream. */
  val symbols = UInt(BackwardBits.lengthBits.W)

  /** The longest code that may start at bit `i`. */
  def code(i: Int): UInt = window(bits + HuffmanCode.mostBits - 2 - i, bits - 1 - i)
}

/** A chunk, and for each of its bits the length of a code there, one-hot. */
class MeasuredChunk(val bits: Int) extends Bundle {
  val chunk = new HuffmanChunk(bits)
  val lengths = Vec(bits, UInt(HuffmanCode.mostBits.W))
}

/** Determines the length of a code at each bit. */
class HuffmanLengths(bits: Int) extends Module {
  val input = IO(Flipped(Valid(new HuffmanChunk(bits))))
  val code = IO(Input(new HuffmanCode))
  val output = IO(Valid(new MeasuredChunk(bits)))

  output.valid := input.valid
  output.bits.chunk := input.bits
  output.bits.lengths := VecInit((0 until bits).map { i =>
    val value = input.bits.code(i)
    val reached = code.thresholds.map(value >= _)
    Cat(reached.zipWithIndex.map { case (reaches, length) =>
      reaches && (if (length == 0) true.B else !reached(length - 1))
    }.reverse)
  })
}

/** Computes, for every bit at which the first code of a chunk may start, where the first code of the next chunk starts:
  * a few bits per stage, from the last bit on.
  */
class HuffmanExits(bits: Int) extends Module {
  private val most = HuffmanCode.mostBits
  val clear = IO(Input(Bool()))
  val input = IO(Flipped(Valid(new MeasuredChunk(bits))))
  val output = IO(Valid(new MeasuredChunk(bits)))

  /** Indexed by the bit of the first code, relative to the start of the chunk; both may be beyond its end. */
  val exits = IO(Output(Vec(1 << log2Ceil(most), UInt(4.W))))
  val busy = IO(Output(Bool()))

  private val stages = (bits + HuffmanExits.step - 1) / HuffmanExits.step
  private var valid: Bool = input.valid
  private var chunk: MeasuredChunk = input.bits

  /** Exits from the next bit on, and from the twelve bits after the chunk. */
  private var known: Seq[UInt] = Seq.tabulate(most)(i => i.U(4.W))
  private val valids = scala.collection.mutable.ArrayBuffer(valid)
  for (stage <- 0 until stages) {
    val from = bits - 1 - stage * HuffmanExits.step
    for (bit <- from to (from - HuffmanExits.step + 1).max(0) by -1) {
      known = Mux1H(chunk.lengths(bit), known.take(most)) +: known.take(2 * most)
    }
    val enable = valid
    valid = RegNext(valid && !clear, false.B)
    chunk = RegEnable(chunk, enable)
    known = known.map(RegEnable(_, enable))
    valids += valid
  }
  output.valid := valid
  output.bits := chunk
  for (i <- exits.indices) exits(i) := (if (i < most) known.lift(i).getOrElse((i - bits).U) else 0.U)
  busy := valids.reduce(_ || _)
}

object HuffmanExits {

  /** Bits per stage. */
  val step: Int = 3
}

/** Marks the starts of codes from the first one on, a few bits per stage. */
class HuffmanStarts(bits: Int) extends Module {
  private val most = HuffmanCode.mostBits
  val clear = IO(Input(Bool()))
  val input = IO(Flipped(Valid(new MeasuredChunk(bits))))

  /** Accompanies `input`: the bit of the first code. */
  val entry = IO(Input(UInt(4.W)))
  val output = IO(Valid(new MeasuredChunk(bits)))

  /** The bits at which codes start, and whether one would start after the last bit of the stream. */
  val starts = IO(Output(UInt(bits.W)))
  val ends = IO(Output(Bool()))
  val busy = IO(Output(Bool()))

  private val stages = (bits + HuffmanExits.step) / HuffmanExits.step
  private var valid: Bool = input.valid
  private var chunk: MeasuredChunk = input.bits
  private var marks: Seq[Bool] = Seq.empty
  private var first: Seq[Bool] = Seq.tabulate(bits + 1)(i => if (i < 16) entry === i.U else false.B)
  private val valids = scala.collection.mutable.ArrayBuffer(valid)
  for (stage <- 0 until stages) {
    val from = stage * HuffmanExits.step
    for (bit <- from to (from + HuffmanExits.step - 1).min(bits)) {
      val reached = (1 to most.min(bit)).map(length => marks(bit - length) && chunk.lengths(bit - length)(length - 1))
      marks = marks :+ (first(bit) +: reached).reduce(_ || _)
    }
    val enable = valid
    valid = RegNext(valid && !clear, false.B)
    chunk = RegEnable(chunk, enable)
    marks = marks.map(RegEnable(_, enable))
    first = first.zipWithIndex.map { case (is, i) => if (i < marks.size) false.B else RegEnable(is, enable) }
    valids += valid
  }
  output.valid := valid
  output.bits := chunk
  starts := Cat(marks.take(bits).zipWithIndex.map { case (mark, i) => mark && chunk.chunk.left > i.U }.reverse)
  ends := VecInit(marks)(chunk.chunk.left)
  busy := valids.reduce(_ || _)
}

/** Compacts the selected numbers to the front, in two stages. */
class HuffmanPacker(bits: Int) extends Module {
  val clear = IO(Input(Bool()))
  val input = IO(Flipped(Valid(Vec(bits, UInt(8.W)))))
  val keep = IO(Input(UInt(bits.W)))
  val output = IO(Valid(Vec(bits, UInt(8.W))))
  val count = IO(Output(UInt(log2Ceil(bits + 1).W)))
  val busy = IO(Output(Bool()))

  private val shiftBits = log2Ceil(bits)

  // Each number moves by the number of those before it that are not selected.
  private val moving = RegNext(input.valid && !clear, false.B)
  private val numbers = RegEnable(input.bits, input.valid)
  private val kept = RegEnable(keep, input.valid)
  private val shifts = (0 until bits).map { i =>
    RegEnable(if (i == 0) 0.U else PopCount(~keep(i - 1, 0)), input.valid)
  }

  private class Item extends Bundle {
    val valid = Bool()
    val number = UInt(8.W)
    val shift = UInt((shiftBits + 1).W)
  }
  private val none = 0.U.asTypeOf(new Item)
  private val items = (0 until bits).map { i =>
    val item = Wire(new Item)
    item.valid := kept(i)
    item.number := numbers(i)
    item.shift := shifts(i)
    item
  }
  private val packed = (0 until shiftBits).foldLeft(items) { (line, level) =>
    val by = 1 << level
    line.indices.map { i =>
      val stays = line(i).valid && !line(i).shift(level)
      val source = if (i + by < bits) line(i + by) else none
      val comes = source.valid && source.shift(level)
      val item = Wire(new Item)
      item.valid := stays || comes
      item.number := Mux(comes, source.number, line(i).number)
      item.shift := Mux(comes, source.shift, line(i).shift)
      item
    }
  }
  output.valid := RegNext(moving && !clear, false.B)
  output.bits := RegEnable(VecInit(packed.map(_.number)), moving)
  count := RegEnable(PopCount(kept), moving)
  busy := moving || output.valid
}
