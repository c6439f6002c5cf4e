package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

/** Tracks nested unknown groups: a stack of their field numbers, because an end tag must match its start tag. */
class DeserializerGroups extends Module {
  import DeserializerGroups._

  /** A group tag is consumed: its field number, whether it starts a group, and its position in the input. */
  val taken = IO(Flipped(Valid(new GroupTag)))

  /** Discard all groups. */
  val clear = IO(Input(Bool()))

  /** A group is open; a group is open after the tag that is consumed in this cycle, if any. */
  val open = IO(Output(Bool()))
  val openNext = IO(Output(Bool()))

  /** There is room for one more nested group. */
  val fits = IO(Output(Bool()))

  /** The field number of the innermost group, and the position of the outermost one. */
  val number = IO(Output(UInt(29.W)))
  val start = IO(Output(UInt(32.W)))

  private val numbers = Reg(Vec(depth, UInt(29.W)))
  private val count = RegInit(0.U(log2Ceil(depth + 1).W))
  private val began = Reg(UInt(32.W))
  private val next = Mux(taken.valid, Mux(taken.bits.begins, count + 1.U, count - 1.U), count)
  open := count =/= 0.U
  openNext := next =/= 0.U
  fits := count =/= depth.U
  number := numbers.head
  start := began

  count := next
  when(taken.valid) {
    when(taken.bits.begins) {
      numbers := VecInit(taken.bits.number +: numbers.init)
      when(!open)(began := taken.bits.start)
    }.otherwise { numbers := VecInit(numbers.tail :+ numbers.last) }
  }
  when(clear)(count := 0.U)
}

/** The tag of a group. */
class GroupTag extends Bundle {
  val begins = Bool()
  val number = UInt(29.W)
  val start = UInt(32.W)
}

/** Constants of [[DeserializerGroups]]. */
object DeserializerGroups {

  /** Maximum nesting depth. */
  val depth: Int = 8
}
