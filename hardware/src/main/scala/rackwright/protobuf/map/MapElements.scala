package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorTable, MapField}

/** A map to read. */
class MapStart extends Bundle {

  /** Address of the library's map field. */
  val field = UInt(DescriptorTable.addressBits.W)

  /** Its elements are entry objects; otherwise, they are this number of nodes of a hash table. */
  val inEntries = Bool()
  val count = UInt(31.W)
  val nodes = new MapNodes
}

/** Reads the elements of a map, in their order in memory. */
class MapElements extends Module {
  import MapElements._
  private val addressBits = DescriptorTable.addressBits

  val start = IO(Flipped(Valid(new MapStart)))

  /** Discard the map. */
  val clear = IO(Input(Bool()))

  /** Addresses of nodes or entry objects. */
  val element = IO(Decoupled(UInt(addressBits.W)))

  /** Every element has been offered. */
  val finished = IO(Output(Bool()))

  /** The map cannot be read. */
  val failure = IO(Valid(UInt(Status.width.W)))
  val read = IO(new WordRead)

  private val state = RegInit(State.idle)
  private val field = Reg(UInt(addressBits.W))
  private val inEntries = Reg(Bool())
  private val nextOffset = Reg(UInt(MapNodes.offsetBits.W))

  // The hash table and its current pair of buckets; or the pointers of the repeated field.
  private val table = Reg(UInt(addressBits.W))
  private val index = Reg(UInt(indexBits.W))
  private val count = Reg(UInt(indexBits.W))
  private val even = Reg(UInt(64.W))
  private val odd = Reg(UInt(64.W))
  private val at = Reg(UInt(64.W))
  private val left = Reg(UInt(31.W))
  private val asked = read.isUnderWay(clear)

  private def isState(which: State.Type): Bool = state === which
  private val finds = isState(State.element) && at =/= 0.U
  element.valid := finds
  element.bits := at(addressBits - 1, 0)
  finished := isState(State.idle)

  private val bucket = table + (index << 3)
  read.request.valid := !asked && state.isOneOf(reading)
  read.request.bits := MuxLookup(state, bucket)(
    Seq(
      State.buckets -> (field + MapField.buckets.U),
      State.first -> (field + MapField.first.U),
      State.table -> (field + MapField.table.U),
      State.odd -> (bucket + 8.U),
      State.next -> (at(addressBits - 1, 0) + nextOffset),
      State.repeated -> (field + MapField.repeated.U),
      State.size -> (table + 8.U),
      State.array -> (table + 16.U)
    )
  )
  private val word = read.answer.bits

  failure.valid := false.B
  failure.bits := Status.unsupported
  private def fail(why: UInt): Unit = {
    failure.valid := true.B
    failure.bits := why
    state := State.idle
  }

  /** Continues, unless the word is not a valid pointer. */
  private def follow(next: State.Type): Unit =
    when(word.isWild)(fail(Status.accessFault)).otherwise {
      table := word.pointer
      state := next
    }

  /** Advances to the next node of the list, or to the next pointer. */
  private def advance(): Unit = {
    val step = Mux(inEntries, 1.U, 2.U)
    val isLast = index +& step >= count
    index := index + step
    state := Mux(isLast, State.idle, Mux(inEntries, State.pointer, State.even))
  }

  when(start.valid) {
    field := start.bits.field
    inEntries := start.bits.inEntries
    nextOffset := start.bits.nodes.next
    left := start.bits.count
    state := Mux(start.bits.inEntries, State.repeated, State.buckets)
  }
  when(read.answer.valid) {
    switch(state) {
      is(State.buckets) {
        count := word.data
        state := State.first
        when(word.data > mostBuckets.U || word.data(0))(fail(Status.unsupported))
      }
      is(State.first) {
        index := word.data(indexBits - 1, 1) ## 0.U(1.W)
        state := State.table
        when(word.data >= count)(fail(Status.unsupported))
      }
      is(State.table)(follow(State.even))
      is(State.even) {
        even := word.data
        state := State.odd
      }
      is(State.odd) {
        // A tree, which holds many elements, occupies both buckets of a pair.
        val isTree = word.data === even && even =/= 0.U
        odd := word.data
        at := even
        state := State.element
        when(isTree)(fail(Status.unsupported))
      }
      is(State.next) {
        at := word.data
        state := State.element
      }
      is(State.repeated)(follow(State.size))
      is(State.size) {
        index := 0.U
        count := word.data
        state := State.array
        when(word.data(31, 0) === 0.U) { state := State.idle }
          .elsewhen(word.data(31, 0) > mostBuckets.U)(fail(Status.unsupported))
      }
      is(State.array) {
        follow(State.pointer)
        table := word.pointer + 8.U
      }
      is(State.pointer) {
        at := word.data
        state := State.element
        when(word.isWild)(fail(Status.accessFault))
      }
    }
    when(word.fault)(fail(Status.accessFault))
  }
  when(isState(State.element)) {
    when(at === 0.U) {
      // The end of a list: continue with the other bucket of the pair.
      at := odd
      odd := 0.U
      when(odd === 0.U)(advance())
    }.elsewhen(LoadedWord.isWild(at))(fail(Status.accessFault)).elsewhen(element.ready) {
      left := left - 1.U
      state := Mux(left === 1.U, State.idle, State.next)
      when(inEntries)(advance())
    }
  }
  when(clear) { state := State.idle }
}

/** Constants and states of [[MapElements]]. */
object MapElements {

  /** Largest number of buckets, and of elements of a repeated field, that are supported. */
  val mostBuckets: Int = 1024
  private val indexBits = log2Ceil(mostBuckets + 1)

  /** Reads the head of a hash table, then pairs of buckets, and the nodes of their lists; or a repeated field and its
    * pointers. `element` offers an element.
    */
  object State extends ChiselEnum {
    val idle, buckets, first, table, even, odd, next, repeated, size, array, pointer, element = Value
  }
  private val reading = State.all.filterNot(Seq(State.idle, State.element).contains)
}
