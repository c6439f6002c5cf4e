package rackwright.allocate

import chisel3._
import chisel3.util._

/** The block that was taken for a program. */
class TakenBlock extends Bundle {
  val exists = Bool()
  val place = UInt(Grain.bits.W)
  val size = UInt(Grain.bits.W)

  /** The expected free block is invalid. */
  val broken = Bool()
}

/** Takes a sufficiently large block from the free lists, and returns the excess. */
class Taker extends Module {
  private object State extends ChiselEnum {
    val idle, classify, search, read, take, rest, restHeader, restNeighbour, header, settle = Value
  }

  /** The requested grains, including those of the header. */
  val want = IO(Flipped(Decoupled(UInt(Grain.bits.W))))
  val taken = IO(Valid(new TakenBlock))
  val question = IO(Valid(new ListQuestion))
  val list = IO(Flipped(Valid(UInt(SizeList.bits.W))))
  val search = IO(Valid(new ListSearch))
  val found = IO(Flipped(Valid(new FoundList)))
  val read = IO(Decoupled(UInt(Grain.bits.W)))
  val block = IO(Flipped(Valid(new Block)))
  val edit = IO(Decoupled(new ListEdit))
  val edited = IO(Input(Bool()))
  val write = IO(Decoupled(new BlockWrite))
  val leaving = IO(Output(UInt(Grain.bits.W)))
  val unsettled = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val wanted = Reg(UInt(Grain.bits.W))
  private val head = Reg(UInt(Grain.bits.W))
  private val now = Reg(new Block)
  private val rest = Reg(UInt(Grain.bits.W))
  private val restPlace = Reg(UInt(Grain.bits.W))
  private val after = Reg(UInt(Grain.bits.W))
  private val splits = Reg(Bool())

  want.ready := state === State.idle
  when(want.fire) {
    wanted := want.bits
    state := State.classify
  }
  question.valid := want.fire
  question.bits.size := want.bits
  question.bits.enough := true.B
  search.valid := state === State.classify && list.valid
  search.bits.list := list.bits
  search.bits.exact := false.B
  when(search.valid) { state := State.search }

  private val missing = state === State.search && found.valid && !found.bits.exists
  when(state === State.search && found.valid) {
    head := found.bits.head
    state := Mux(found.bits.exists, State.read, State.idle)
  }
  read.valid := state === State.read
  read.bits := head
  private val isBroken = Reg(Bool())
  when(state === State.read && block.valid) {
    now := block.bits
    isBroken := !block.bits.sound || !block.bits.header.free || block.bits.header.size < wanted
    rest := block.bits.header.size - wanted
    restPlace := head + wanted
    after := head + block.bits.header.size
    state := State.take
  }

  // A rest that is too small for a block stays with it.
  private val isEnough = rest >= Grain.leastBlock.U
  edit.valid := (state === State.take && !isBroken) || state === State.rest
  edit.bits.place := Mux(state === State.take, now.place, restPlace)
  edit.bits.size := Mux(state === State.take, now.header.size, rest)
  edit.bits.leaves := state === State.take
  edit.bits.links := now.links
  when(state === State.take) {
    splits := isEnough
    when(isBroken) { state := State.idle }
      .elsewhen(edit.fire) { state := Mux(isEnough, State.rest, State.header) }
  }
  when(state === State.rest && edit.fire) { state := State.restHeader }

  private val size = Mux(splits, wanted, now.header.size)
  write.valid := false.B
  write.bits.links := false.B
  write.bits.place := now.place
  write.bits.low.valid := true.B
  write.bits.low.bits := Header.low(size, free = false.B, kept = false.B)
  write.bits.high.valid := false.B
  write.bits.high.bits := Header.high(restPlace, now.place)
  when(state === State.restHeader) {
    write.valid := edited
    write.bits.place := restPlace
    write.bits.low.bits := Header.low(rest, free = true.B, kept = false.B)
    write.bits.high.valid := true.B
    when(write.fire) { state := Mux(now.header.last, State.header, State.restNeighbour) }
  }
  when(state === State.restNeighbour) {
    write.valid := true.B
    write.bits.place := after
    write.bits.low.valid := false.B
    write.bits.high.valid := true.B
    write.bits.high.bits := Header.high(after, restPlace)
    when(write.ready) { state := State.header }
  }
  when(state === State.header) {
    write.valid := edited
    when(write.fire) { state := State.settle }
  }
  // The program may write to the position of the block's links.
  leaving := now.place
  private val settled = state === State.settle && !unsettled
  when(settled) { state := State.idle }

  private val broken = state === State.take && isBroken
  taken.valid := missing || broken || settled
  taken.bits.exists := settled
  taken.bits.place := now.place
  taken.bits.size := size
  taken.bits.broken := broken
}
