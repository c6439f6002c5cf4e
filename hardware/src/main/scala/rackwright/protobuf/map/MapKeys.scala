package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorTable, FieldKind, MapField}

/** Reads the keys of elements of a map, as far as they are kept on chip. */
class MapKeys extends Module {
  import MapKeys.State
  private val addressBits = DescriptorTable.addressBits

  /** Type of the keys; whether elements are entry objects. */
  val kind = IO(Input(UInt(5.W)))
  val inEntries = IO(Input(Bool()))

  /** Discard the current element. */
  val clear = IO(Input(Bool()))

  /** An element, and the same one with its key. */
  val address = IO(Flipped(Decoupled(UInt(addressBits.W))))
  val element = IO(Decoupled(new MapElement))

  /** No element is in this block. */
  val idle = IO(Output(Bool()))

  /** A key cannot be read, or can only be compared by the library. */
  val failure = IO(Valid(UInt(Status.width.W)))
  val read = IO(new WordRead)

  private val state = RegInit(State.idle)
  private val found = Reg(new MapElement)
  private val string = Reg(UInt(addressBits.W))
  private val asked = read.isUnderWay(clear)
  private def isState(which: State.Type): Bool = state === which
  private val isString = FieldKind.isStringLike(kind)
  idle := isState(State.idle)
  address.ready := isState(State.idle)
  element.valid := isState(State.offer)
  element.bits := found

  private val place = found.address + Mux(inEntries, MapField.entryKey.U, 0.U)
  read.request.valid := !asked && state.isOneOf(State.key, State.text, State.length, State.prefix)
  read.request.bits := MuxLookup(state, place)(
    Seq(State.text -> string, State.length -> (string + 8.U), State.prefix -> found.text)
  )
  private val word = read.answer.bits

  failure.valid := false.B
  failure.bits := Status.accessFault
  private def fail(why: UInt): Unit = {
    failure.valid := true.B
    failure.bits := why
    state := State.idle
  }

  when(address.fire) {
    found.address := address.bits
    found.length := 0.U
    // The string of a node is within the node; an entry object has a pointer to it.
    string := address.bits
    state := Mux(isString && !inEntries, State.text, State.key)
  }
  when(read.answer.valid) {
    switch(state) {
      is(State.key) {
        found.key := MapElement.number(kind, word.data)
        // The low bits of the pointer to a string encode its ownership.
        string := word.data(addressBits - 1, 2) ## 0.U(2.W)
        state := Mux(isString, State.text, State.offer)
        when(isString && LoadedWord.isWild(word.data(63, 2) ## 0.U(2.W)))(fail(Status.accessFault))
      }
      is(State.text) {
        found.text := word.pointer
        state := State.length
        when((word.data >> addressBits).orR)(fail(Status.accessFault))
          .elsewhen(word.data(2, 0).orR)(fail(Status.unsupported))
      }
      is(State.length) {
        found.length := word.data
        found.key := 0.U
        state := Mux(word.data === 0.U, State.offer, State.prefix)
        when((word.data >> 31).orR)(fail(Status.unsupported))
      }
      is(State.prefix) {
        found.key := MapElement.text(word.data, found.length)
        state := State.offer
      }
    }
    when(word.fault)(fail(Status.accessFault))
  }
  when(element.fire) { state := State.idle }
  when(clear) { state := State.idle }
}

/** The states of [[MapKeys]]. */
object MapKeys {

  /** `key` reads a number or the pointer to a string; `text` and `length` read a string object, `prefix` its first
    * bytes.
    */
  object State extends ChiselEnum {
    val idle, key, text, length, prefix, offer = Value
  }
}
