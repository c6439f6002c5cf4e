package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BackwardBits
import rackwright.entropy.huffman.HuffmanStream
import rackwright.stream.StreamRange

/** A request to decode literals from one or four consecutive Huffman streams. */
class HuffmanOrder extends Bundle {

  /** Address of the first stream. */
  val address = UInt(64.W)
  val four = Bool()

  /** Size of each stream in bytes, at least 1. */
  val bytes = Vec(4, UInt(BackwardBits.lengthBits.W))

  /** Number of symbols in each stream but the last, and in the last one. */
  val symbols = UInt(BackwardBits.lengthBits.W)
  val lastSymbols = UInt(BackwardBits.lengthBits.W)
}

/** Reads and decodes the streams of a request, one after the other. */
class HuffmanStreams extends Module {
  val clear = IO(Input(Bool()))
  val order = IO(Flipped(Decoupled(new HuffmanOrder)))
  val range = IO(Decoupled(new StreamRange))
  val stream = IO(Decoupled(new HuffmanStream))
  val idle = IO(Output(Bool()))

  private val busy = RegInit(false.B)
  private val current = Reg(new HuffmanOrder)
  private val number = Reg(UInt(2.W))
  private val last = !current.four || number === 3.U
  private val waiting = withReset(reset.asBool || clear)(Module(new Queue(new HuffmanStream, 4)))
  private val bytes = current.bytes(number)

  order.ready := !busy
  range.valid := busy && waiting.io.enq.ready
  range.bits.address := current.address
  range.bits.length := bytes
  waiting.io.enq.valid := busy && range.ready
  waiting.io.enq.bits.bytes := bytes
  waiting.io.enq.bits.symbols := Mux(last, current.lastSymbols, current.symbols)
  stream <> waiting.io.deq
  when(range.fire) {
    current.address := current.address + bytes
    number := number + 1.U
    when(last) { busy := false.B }
  }
  when(order.fire) {
    busy := true.B
    current := order.bits
    number := 0.U
  }
  when(clear) { busy := false.B }
  idle := !busy && !waiting.io.deq.valid
}
