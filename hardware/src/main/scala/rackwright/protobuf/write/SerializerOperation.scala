package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.FieldKind

/** The encoding of a number. */
object NumberForm extends ChiselEnum {
  val varint, fixed32, fixed64 = Value
}

/** A number to encode. */
class WireNumber extends Bundle {
  val form = NumberForm()
  val value = UInt(64.W)
}

/** Converts values from memory to the wire format. */
object WireNumber {

  /** The number of type `kind` at byte `lane` of an aligned 64-bit word. */
  def fromMemory(kind: UInt, word: UInt, lane: UInt): WireNumber = {
    val half = Mux(lane(2), word(63, 32), word(31, 0))
    val byte = (half >> (lane(1, 0) << 3))(7, 0)
    val isSigned = kind === FieldKind.int32.U || kind === FieldKind.enumeration.U
    val extended = Mux(isSigned && half(31), ~0.U(32.W), 0.U(32.W)) ## half
    val number = Wire(new WireNumber)
    number.form := NumberForm.varint
    when(FieldKind.isFixed32(kind)) { number.form := NumberForm.fixed32 }
    when(FieldKind.isFixed64(kind)) { number.form := NumberForm.fixed64 }
    number.value := Mux(FieldKind.isWide(kind), word, extended)
    when(FieldKind.isBool(kind)) { number.value := byte.orR }
    when(kind === FieldKind.sint32.U) { number.value := zigzag(half) }
    when(kind === FieldKind.sint64.U) { number.value := zigzag(word) }
    number
  }

  private def zigzag(value: UInt): UInt = {
    val bits = value.getWidth
    (value(bits - 2, 0) ## 0.U(1.W)) ^ Fill(bits, value(bits - 1))
  }
}

/** The kind of an operation of the walker. */
object OperationKind extends ChiselEnum {

  /** A number with its tag; the bytes of the next field serializer; the last byte and the first byte of a sub-message;
    * the end of a request.
    */
  val number, field, open, close, finish = Value
}

/** One step of the output, in descending order of address. */
class SerializerOperation extends Bundle {
  val kind = OperationKind()
  val tag = UInt(32.W)
  val number = new WireNumber

  /** The status with which the walk of the request ended. */
  val status = UInt(Status.width.W)
}
