package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** A singular sub-message that may exist already: the address of its pointer. */
class Revisit extends Bundle {
  val pointer = UInt(DescriptorTable.addressBits.W)

  /** The field is in a oneof: its pointer is valid only if the case word selects it. */
  val inOneof = Bool()
  val oneof = new OneofCase
}

/** The existing object, if any. */
class RevisitResult extends Bundle {
  val exists = Bool()
  val address = UInt(DescriptorTable.addressBits.W)
  val fault = Bool()
}

/** Reads whether an object already contains a sub-message that occurs again, from memory that may have been written
  * before.
  */
class DeserializerRevisits extends Module {
  import DeserializerRevisits._

  /** Start; the request is held until the result. */
  val start = IO(Input(Bool()))
  val asked = IO(Input(new Revisit))
  val found = IO(Valid(new RevisitResult))

  val readBack = IO(Valid(new ReadBackRequest))
  val readBackResponse = IO(Flipped(Valid(new ReadBackResponse)))

  private val state = RegInit(State.idle)
  private val inCase = state === State.oneof
  readBack.valid := state =/= State.idle
  readBack.bits.address := Mux(inCase, asked.oneof.address, asked.pointer)
  readBack.bits.bytes := Mux(inCase, 4.U, 8.U)
  readBack.bits.settled := false.B

  private val word = readBackResponse.bits.word(0)
  private val isOther = inCase && word(31, 0) =/= asked.oneof.number
  private val fault = readBackResponse.bits.fault
  private val answered = readBack.valid && readBackResponse.valid
  found.valid := answered && (!inCase || isOther || fault)
  found.bits.exists := !inCase && word =/= 0.U
  found.bits.address := word
  found.bits.fault := fault
  when(answered) { state := Mux(found.valid, State.idle, State.pointer) }
  when(start) { state := Mux(asked.inOneof, State.oneof, State.pointer) }
}

/** State of [[DeserializerRevisits]]. */
object DeserializerRevisits {

  /** Reads a case word, then a pointer. */
  object State extends ChiselEnum {
    val idle, oneof, pointer = Value
  }
}
