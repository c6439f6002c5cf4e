package rackwright.allocate

import chisel3._
import chisel3.util._

/** A free block that is to be added to the list of its size, or removed from it. */
class ListEdit extends Bundle {
  val place = UInt(Grain.bits.W)
  val size = UInt(Grain.bits.W)
  val leaves = Bool()

  /** For a removed one: the blocks on either side of it. */
  val links = new Links
}

/** Adds blocks to the free lists, and removes them: their links in memory, and the heads. */
class ListEditor extends Module {
  private object State extends ChiselEnum {
    val idle, classify, search, own, next, previous, head = Value
  }

  val edit = IO(Flipped(Decoupled(new ListEdit)))

  /** There is no edit, or all its writes have been handed over. */
  val done = IO(Output(Bool()))
  val question = IO(Valid(new ListQuestion))
  val list = IO(Flipped(Valid(UInt(SizeList.bits.W))))
  val search = IO(Valid(new ListSearch))
  val found = IO(Flipped(Valid(new FoundList)))
  val change = IO(Valid(new ListChange))
  val write = IO(Decoupled(new BlockWrite))

  private val state = RegInit(State.idle)
  private val now = Reg(new ListEdit)
  private val listNow = Reg(UInt(SizeList.bits.W))

  edit.ready := state === State.idle
  // Only a list whose head changes is looked up.
  private val within = edit.bits.leaves && edit.bits.links.previous.exists
  when(edit.fire) {
    now := edit.bits
    state := Mux(within, State.previous, State.classify)
  }
  question.valid := edit.fire && !within
  question.bits.size := edit.bits.size
  question.bits.enough := false.B

  when(state === State.classify && list.valid) {
    listNow := list.bits
    state := Mux(now.leaves, State.head, State.search)
  }
  search.valid := state === State.classify && list.valid && !now.leaves
  search.bits.list := list.bits
  search.bits.exact := true.B
  when(state === State.search && found.valid) {
    now.links.next.exists := found.bits.exists
    now.links.next.place := found.bits.head
    state := State.own
  }

  private val here = Wire(new Neighbour)
  here.exists := true.B
  here.place := now.place
  write.valid := false.B
  write.bits.links := true.B
  write.bits.place := now.place
  write.bits.low.valid := false.B
  write.bits.low.bits := now.links.next.half
  write.bits.high.valid := false.B
  write.bits.high.bits := 0.U

  // A block that joins becomes the first of its list.
  when(state === State.own) {
    write.valid := true.B
    write.bits.low.valid := true.B
    write.bits.high.valid := true.B
    when(write.ready) { state := Mux(now.links.next.exists, State.next, State.head) }
  }
  when(state === State.previous) {
    write.valid := true.B
    write.bits.place := now.links.previous.place
    write.bits.low.valid := true.B
    when(write.ready) { state := Mux(now.links.next.exists, State.next, State.idle) }
  }
  when(state === State.next) {
    write.valid := true.B
    write.bits.place := now.links.next.place
    write.bits.high.valid := true.B
    write.bits.high.bits := Mux(now.leaves, now.links.previous.half, here.half)
    when(write.ready) { state := Mux(now.leaves, State.idle, State.head) }
  }
  change.valid := state === State.head
  change.bits.list := listNow
  change.bits.head := Mux(now.leaves, now.links.next, here)
  when(state === State.head) { state := Mux(now.leaves && now.links.next.exists, State.next, State.idle) }
  // The next edit waits for this one, and so does its requester.
  done := edit.ready
}
