package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

/** A decoded base-128 varint. */
class Varint(maximumBytes: Int) extends Bundle {

  /** Its value modulo 2^64. */
  val value = UInt((7 * maximumBytes).min(64).W)

  /** Its length in bytes; undefined if it is incomplete. */
  val length = UInt(log2Ceil(maximumBytes + 1).W)

  /** Its last byte is within the examined ones. */
  val complete = Bool()
}

/** Decodes varints. */
object Varint {

  /** Decodes the varint at the start of `data` (the first byte lowest), of at most `maximumBytes` bytes. */
  def decode(data: UInt, maximumBytes: Int): Varint = {
    val bytes = Seq.tabulate(maximumBytes)(i => data(8 * i + 7, 8 * i))
    // Byte i belongs to the varint if the continuation bits of all bytes before it are set.
    val belongs = bytes.init.scanLeft(true.B)((all, byte) => all && byte(7))
    val groups = bytes.zip(belongs).map { case (byte, belongs) => Mux(belongs, byte(6, 0), 0.U(7.W)) }
    val ends = VecInit(bytes.map(!_(7))).asUInt
    val decoded = Wire(new Varint(maximumBytes))
    decoded.value := Cat(groups.reverse)
    decoded.length := PriorityEncoder(ends) +& 1.U
    decoded.complete := ends.orR
    decoded
  }

  /** Decodes a zigzag encoded value. */
  def unzigzag(value: UInt): UInt = (value >> 1) ^ Fill(value.getWidth, value(0))
}
