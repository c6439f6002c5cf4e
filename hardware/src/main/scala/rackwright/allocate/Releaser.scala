package rackwright.allocate

import chisel3._
import chisel3.util._

/** Returns a block to the free lists, merged with the free blocks before and after it. */
class Releaser extends Module {
  private object State extends ChiselEnum {
    val idle, readNext, readPrevious, join, header, neighbour = Value
  }

  /** The block as memory holds it. */
  val give = IO(Flipped(Decoupled(new Block)))
  val done = IO(Output(Bool()))

  /** A block beside it has no header. */
  val broken = IO(Output(Bool()))
  val read = IO(Decoupled(UInt(Grain.bits.W)))
  val block = IO(Flipped(Valid(new Block)))
  val edit = IO(Decoupled(new ListEdit))
  val edited = IO(Input(Bool()))
  val write = IO(Decoupled(new BlockWrite))

  private val state = RegInit(State.idle)
  private val place = Reg(UInt(Grain.bits.W))
  private val header = Reg(new Header)
  private val next = Reg(UInt(Grain.bits.W))

  give.ready := state === State.idle
  when(give.fire) {
    place := give.bits.place
    header := give.bits.header
    next := give.bits.place + give.bits.header.size
    state := Mux(
      !give.bits.header.last,
      State.readNext,
      Mux(give.bits.place =/= 0.U, State.readPrevious, State.join)
    )
  }

  read.valid := (state === State.readNext || state === State.readPrevious) && edited
  read.bits := Mux(state === State.readNext, next, header.previous)
  private val reading = block.valid && (state === State.readNext || state === State.readPrevious)
  broken := reading && !block.bits.sound

  // A neighbour that is free leaves its list.
  private val joins = reading && block.bits.sound && block.bits.header.free
  edit.valid := joins || state === State.join
  edit.bits.place := Mux(joins, block.bits.place, place)
  edit.bits.size := Mux(joins, block.bits.header.size, header.size)
  edit.bits.leaves := joins
  edit.bits.links := block.bits.links
  when(joins) { header.size := header.size + block.bits.header.size }
  when(reading) {
    when(state === State.readNext) {
      when(joins) {
        header.last := block.bits.header.last
        next := next + block.bits.header.size
      }
      state := Mux(place =/= 0.U, State.readPrevious, State.join)
    }.otherwise {
      when(joins) {
        place := block.bits.place
        header.previous := block.bits.header.previous
      }
      state := State.join
    }
  }
  when(state === State.join && edit.fire) { state := State.header }

  write.valid := (state === State.header || state === State.neighbour) && edited
  write.bits.links := false.B
  write.bits.place := Mux(state === State.header, place, next)
  write.bits.low.valid := state === State.header
  write.bits.low.bits := Header.low(header.size, free = true.B, kept = false.B)
  write.bits.high.valid := true.B
  write.bits.high.bits := Header.high(write.bits.place, Mux(state === State.header, header.previous, place))
  when(write.fire) { state := Mux(state === State.header && !header.last, State.neighbour, State.idle) }
  done := state === State.idle && edited
  assert(!joins || edit.ready, "a neighbour leaves its list while another edit is under way")
}
