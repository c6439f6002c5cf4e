package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** A singular message that may be there already: where its pointer is. */
class Revisit extends Bundle {
  val pointer = UInt(DescriptorTable.addressBits.W)

  /** It is in a oneof, so that the pointer is one only if the case word says so. */
  val inOneof = Bool()
  val oneof = new OneofCase
}

/** What was found: the object, if there is one. */
class RevisitResult extends Bundle {
  val exists = Bool()
  val address = UInt(DescriptorTable.addressBits.W)
  val fault = Bool()
}

/** Looks up whether an object has a message that occurs again, in what has been written of it. */
class DeserializerRevisits extends Module {
  import DeserializerRevisits._

  /** Begin; what is asked stays until it is found. */
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
