package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

/** The bytes at the head of the input, as registers hold them. */
class InputHead(portBytes: Int) extends Bundle {
  val data = UInt((8 * portBytes).W)

  /** Bytes of them that are there. */
  val available = UInt(log2Ceil(portBytes + 1).W)

  /** What is behind them can't be read. */
  val fault = Bool()
}

/** Bytes that leave the input in a cycle: by one of these three ways. */
class InputConsumption(portBytes: Int) extends Bundle {

  /** So many, which is known early. */
  val bytes = UInt(log2Ceil(portBytes + 1).W)

  /** As many as [[QuickField]] has at that place of its lengths: one-hot, known late. */
  val quick = UInt(QuickField.lengths.length.W)

  /** So many, which is known late; what is behind them is not there in the next cycle. */
  val last = UInt(log2Ceil(portBytes + 1).W)

  /** How many they are. */
  def count: UInt = bytes | last | QuickField.bytes(quick)
}

/** Puts a register between the alignment of the input and those who look at it.
  *
  * Aligning takes a cycle after bytes have left. Meanwhile the register itself is shifted, so that the bytes behind
  * them are there in the next cycle, as far as it holds them. It is loaded when none leave.
  */
class DeserializerHead(portBytes: Int) extends Module {
  val stream = IO(Flipped(new ByteStream(portBytes)))
  val head = IO(Output(new InputHead(portBytes)))
  val consume = IO(Input(new InputConsumption(portBytes)))

  private val now = Reg(new InputHead(portBytes))
  head := now
  stream.consume := consume.count

  private val isQuick = consume.quick.orR
  private val isKnown = consume.bytes =/= 0.U
  private val quickly = Mux1H(consume.quick, QuickField.lengths.map(length => now.data >> (8 * length)))
  private val shifted = Mux(isQuick, quickly, now.data >> Cat(consume.bytes, 0.U(3.W)))
  private val empties = consume.last =/= 0.U
  now.data := Mux(isQuick || isKnown, shifted, stream.data.asUInt)
  now.available := Mux(isQuick || isKnown, now.available - consume.count, Mux(empties, 0.U, stream.available))
  now.fault := Mux(isQuick || isKnown, now.fault, stream.fault && !empties)
}
