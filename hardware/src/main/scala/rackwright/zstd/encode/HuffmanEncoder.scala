package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString
import rackwright.entropy.huffman.{HuffmanAssignment, HuffmanWord}
import rackwright.memory.Sram

/** The literals of one Huffman stream: from index `from` up to, but not including, `until`. */
class HuffmanStream(params: ZstdCompressorParams) extends Bundle {
  val from = UInt(params.countBits.W)
  val until = UInt(params.countBits.W)
  val half = Bool()
}

/** Writes a Huffman stream (RFC 8878, section 4.2.2), from its last literal to the first, four per cycle. */
class HuffmanEncoder(params: ZstdCompressorParams) extends Module {
  import BlockCollector.lanes

  /** Write port of the code table for the next streams. */
  val assignment = IO(Flipped(Valid(new HuffmanAssignment)))
  val start = IO(Flipped(Valid(new HuffmanStream(params))))
  val enable = IO(Input(Bool()))

  /** An index into the store, whose word arrives two cycles later. */
  val read = IO(Valid(UInt((log2Ceil(params.blockBytes) - 1).W)))
  val word = IO(Input(UInt((8 * lanes).W)))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))

  /** All bits, including the end mark, have been emitted. */
  val done = IO(Output(Bool()))

  private val laneBits = log2Ceil(lanes)
  private val running = RegInit(false.B)
  private val stream = Reg(new HuffmanStream(params))
  private val at = Reg(UInt((params.countBits - laneBits).W))
  private val first = stream.from >> laneBits
  private val issue = running && enable
  read.valid := issue
  read.bits := Cat(stream.half, at(log2Ceil(params.blockBytes / lanes) - 1, 0))
  when(issue) {
    at := at - 1.U
    when(at === first) { running := false.B }
  }
  when(start.valid) {
    running := true.B
    stream := start.bits
    at := (start.bits.until - 1.U) >> laneBits
  }

  // The literals of a word that belong to the stream.
  private val inside = VecInit.tabulate(lanes) { lane =>
    val place = Cat(at, lane.U(laneBits.W))
    place >= stream.from && place < stream.until
  }
  private val insideNow = ShiftRegister(inside, 2)
  private val arrived = ShiftRegister(issue, 2, false.B, true.B)

  // Code table lookup.
  private val words = Seq.tabulate(lanes) { lane =>
    val memory = Sram(256, new HuffmanWord)
    when(assignment.valid) { memory.write(assignment.bits.symbol, assignment.bits.word) }
    val found = memory.read(word(8 * lane + 7, 8 * lane), arrived)
    val kept = RegNext(insideNow(lane))
    val result = Reg(new HuffmanWord)
    result.code := Mux(kept, found.code, 0.U)
    result.length := Mux(kept, found.length, 0.U)
    result
  }
  private val looked = ShiftRegister(arrived, 2, false.B, true.B)

  // Concatenates the codes, with the last literal lowest.
  private val pairs = words.reverse.grouped(2).map { pair =>
    val (low, high) = (pair(0), pair(1))
    val code = Reg(UInt((2 * HuffmanEncoder.mostBits).W))
    val length = Reg(UInt(5.W))
    code := low.code | (high.code << low.length)
    length := low.length +& high.length
    (code, length)
  }.toSeq
  private val joined = RegNext(looked, false.B)
  private val marking = RegInit(false.B)
  private val quiet =
    !running && !arrived && !RegNext(issue, false.B) && !RegNext(arrived, false.B) && !looked && !joined
  private val mark = marking && quiet
  when(start.valid) { marking := true.B }
  when(mark) { marking := false.B }
  bits.valid := joined || mark
  bits.bits.value := Mux(mark, 1.U, pairs(0)._1 | (pairs(1)._1 << pairs(0)._2))
  bits.bits.count := Mux(mark, 1.U, pairs(0)._2 +& pairs(1)._2)
  done := RegNext(mark, false.B)
}

object HuffmanEncoder {
  val mostBits: Int = rackwright.entropy.huffman.HuffmanCodeMaker.mostBits
}
