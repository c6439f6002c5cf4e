package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.huffman.HuffmanAssignment
import rackwright.memory.Sram

/** Stores the weights of a Huffman code (RFC 8878, section 4.2.1) for the modules that describe it. */
class HuffmanWeights extends Module {
  private val symbols = 256

  /** Starts a code: none of its symbols is valid yet. */
  val clear = IO(Input(Bool()))
  val assignment = IO(Flipped(Valid(new HuffmanAssignment)))

  /** The longest code word. */
  val longest = IO(Input(UInt(4.W)))

  /** A symbol, whose weight is valid two cycles later. */
  val symbol = IO(Flipped(Valid(UInt(8.W))))
  val weight = IO(Output(UInt(4.W)))

  private val lengths = Sram(symbols, UInt(4.W))
  private val known = RegInit(0.U(symbols.W))
  when(assignment.valid) {
    lengths.write(assignment.bits.symbol, assignment.bits.word.length)
    known := known.bitSet(assignment.bits.symbol, true.B)
  }
  when(clear) { known := 0.U }
  private val length = lengths.read(symbol.bits, symbol.valid)
  private val isKnown = RegNext(known(symbol.bits))
  weight := RegEnable(Mux(isKnown, longest + 1.U - length, 0.U(4.W)), RegNext(symbol.valid, false.B))
}
