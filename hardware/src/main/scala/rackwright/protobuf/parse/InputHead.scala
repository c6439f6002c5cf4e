package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

/** The registered bytes at the head of the input. */
class InputHead(portBytes: Int) extends Bundle {
  val data = UInt((8 * portBytes).W)

  /** Number of valid bytes. */
  val available = UInt(log2Ceil(portBytes + 1).W)

  /** The bytes that follow cannot be read. */
  val fault = Bool()
}

/** The bytes consumed in a cycle, in one of three ways. */
class InputConsumption(portBytes: Int) extends Bundle {

  /** This number, which is known early. */
  val bytes = UInt(log2Ceil(portBytes + 1).W)

  /** The length at this index of [[QuickField]]'s lengths: one-hot, known late. */
  val quick = UInt(QuickField.lengths.length.W)

  /** This number, known late; the bytes that follow are not valid in the next cycle. */
  val last = UInt(log2Ceil(portBytes + 1).W)

  /** The total. */
  def count: UInt = bytes | last | QuickField.bytes(quick)
}

/** Registers the aligned input.
  *
  * The alignment takes a cycle after bytes are consumed. Meanwhile, the register itself shifts, so that the remaining
  * bytes that it holds are valid in the next cycle. It is loaded when no bytes are consumed.
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
