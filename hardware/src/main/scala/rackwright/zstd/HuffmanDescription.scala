package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.entropy.{BitString, HuffmanAssignment}

/** Describes a Huffman code by its weights (RFC 8878, section 4.2.1.1): four bits each, the last one left out. */
class HuffmanDescription extends Module {
  private val symbols = 256

  /** A code begins: none of its symbols is known. */
  val clear = IO(Input(Bool()))
  val assignment = IO(Flipped(Valid(new HuffmanAssignment)))

  /** Gives the description out; the longest word and the last symbol of the code. */
  val start = IO(Input(Bool()))
  val longest = IO(Input(UInt(4.W)))
  val last = IO(Input(UInt(8.W)))
  val enable = IO(Input(Bool()))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))
  val done = IO(Output(Bool()))

  private val lengths = SyncReadMem(symbols, UInt(4.W))
  private val known = RegInit(0.U(symbols.W))
  when(assignment.valid) {
    lengths.write(assignment.bits.symbol, assignment.bits.word.length)
    known := known.bitSet(assignment.bits.symbol, true.B)
  }
  when(clear) { known := 0.U }

  private val running = RegInit(false.B)
  private val at = Reg(UInt(8.W))
  private val ends = at >= last
  private val issue = running && enable && !ends
  when(issue) { at := at + 1.U }
  private val arrived = RegNext(issue, false.B)
  private val length = lengths.read(at, issue)
  private val isKnown = RegNext(known(at))
  private val odd = RegNext(at(0))
  private val isLast = RegNext(at === last - 1.U)
  private val weight = RegEnable(Mux(isKnown, longest + 1.U - length, 0.U(4.W)), arrived)
  private val weighing = RegNext(arrived, false.B)
  private val oddNow = RegNext(odd)
  private val lastNow = RegNext(isLast)

  // The first of two stands above the second.
  private val upper = RegEnable(weight, weighing)
  private val head = RegNext(start, false.B)
  private val pair = weighing && (oddNow || lastNow)
  bits.valid := head || pair
  bits.bits.count := 8.U
  bits.bits.value := Mux(head, last +& 127.U, Mux(oddNow, Cat(upper, weight), Cat(weight, 0.U(4.W))))
  done := running && ends && !arrived && !weighing && !head
  when(start) {
    running := true.B
    at := 0.U
  }
  when(done) { running := false.B }
}

object HuffmanDescription {

  /** The last symbol of a code that can be described so: a head of 255 stands for 128 weights. */
  val mostSymbol: Int = 128
}
