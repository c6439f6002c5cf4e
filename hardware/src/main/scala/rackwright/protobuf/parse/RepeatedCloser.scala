package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.{DescriptorTable, MapField}

/** Stores the final state of a repeated field.
  *
  * The object of a map points to its RepeatedPtrField only after this, so that a map that is never closed remains
  * unchanged.
  */
class RepeatedCloser(params: DeserializerParams) extends Module {
  import RepeatedCloser.State

  /** Start, with the first store in the same cycle; `done` comes with the last store. */
  val start = IO(Input(Bool()))
  val done = IO(Output(Bool()))

  /** The field and its remaining room, held until `done`; the object that contains it. */
  val slot = IO(Input(new RepeatedSlot))
  val capacity = IO(Input(UInt(31.W)))
  val base = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val arena = IO(Input(UInt(64.W)))

  /** The first store, which contains the capacity, is offered. */
  val inSizes = IO(Output(Bool()))
  val store = IO(Decoupled(new Store(params.port)))

  private val waiting = RegInit(State.idle)
  private val state = Mux(start, State.sizes, waiting)
  private def isState(which: State.Type): Bool = state === which
  waiting := state
  inSizes := isState(State.sizes)

  private val sizes = Cat(capacity.pad(32)(31, 0), 0.U(1.W), slot.size)
  private val place = slot.array + Mux(slot.pointers, 0.U, RepeatedSlot.headerBytes.U)
  private val map = base + slot.offset
  private def wide(at: UInt, value: UInt): Store = Store.value(params.port, at, value, 3.U)
  private def narrow(at: UInt, value: UInt): Store = Store.value(params.port, at, value, 2.U)
  // Sizes and address have 16 bytes: one store if they are aligned.
  private val together = !slot.holder(3)
  store.valid := !isState(State.idle)
  store.bits := MuxLookup(state, wide(slot.holder, sizes))(
    Seq(
      State.array -> wide(slot.holder + 8.U, place),
      State.allocated -> narrow(slot.array, slot.size),
      State.arena -> wide(slot.holder - 8.U, arena),
      State.map -> wide(map + MapField.repeated.U, slot.holder - 8.U),
      State.mapState -> narrow(map + MapField.state.U, MapField.stateRepeated.U)
    )
  )
  when(isState(State.sizes) && together) {
    store.bits := Store.line(params.port, slot.holder, Cat(place.pad(64), sizes))
  }

  done := false.B
  private def end(): Unit = {
    done := true.B
    waiting := State.idle
  }
  private def afterArray(): Unit = when(slot.pointers) { waiting := State.allocated }.otherwise(end())
  when(store.fire) {
    switch(state) {
      is(State.sizes) { when(together)(afterArray()).otherwise { waiting := State.array } }
      is(State.array)(afterArray())
      is(State.allocated) { when(slot.isMap) { waiting := State.arena }.otherwise(end()) }
      is(State.arena) { waiting := State.map }
      is(State.map) { waiting := State.mapState }
      is(State.mapState)(end())
    }
  }
}

/** The states of [[RepeatedCloser]]. */
object RepeatedCloser {

  /** One state for each store: the sizes, with the address of the array or before it; the number of allocated elements;
    * for a map, the arena of its RepeatedPtrField, the pointer to it, and the state that makes it valid.
    */
  object State extends ChiselEnum {
    val idle, sizes, array, allocated, arena, map, mapState = Value
  }
}
