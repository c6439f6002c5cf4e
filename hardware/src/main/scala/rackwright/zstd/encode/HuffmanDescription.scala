package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString

/** Writes a Huffman tree description with uncompressed weights (RFC 8878, section 4.2.1.1): four bits each, without the
  * last one.
  */
class HuffmanDescription extends Module {

  /** Emits the description of a code with this last symbol. */
  val start = IO(Input(Bool()))
  val last = IO(Input(UInt(8.W)))
  val enable = IO(Input(Bool()))

  /** Same contract as the port of [[HuffmanWeights]]. */
  val symbol = IO(Valid(UInt(8.W)))
  val weight = IO(Input(UInt(4.W)))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))
  val done = IO(Output(Bool()))

  private val running = RegInit(false.B)
  private val at = Reg(UInt(8.W))
  private val ends = at >= last
  private val issue = running && enable && !ends
  when(issue) { at := at + 1.U }
  symbol.valid := issue
  symbol.bits := at
  private val arrived = RegNext(issue, false.B)
  private val weighing = RegNext(arrived, false.B)
  private val odd = RegNext(RegNext(at(0)))
  private val isLast = RegNext(RegNext(at === last - 1.U))

  // The first of two weights is in the upper half of a byte.
  private val upper = RegEnable(weight, weighing)
  private val head = RegNext(start, false.B)
  private val pair = weighing && (odd || isLast)
  bits.valid := head || pair
  bits.bits.count := 8.U
  bits.bits.value := Mux(head, last +& 127.U, Mux(odd, Cat(upper, weight), Cat(weight, 0.U(4.W))))
  done := running && ends && !arrived && !weighing && !head
  when(start) {
    running := true.B
    at := 0.U
  }
  when(done) { running := false.B }
}

object HuffmanDescription {

  /** The last symbol of a code that can be described this way: the header byte 255 stands for 128 weights. */
  val mostSymbol: Int = 128
}
