package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

/** Groups within each other that are passed over: their numbers, because the end of one has to name it. */
class DeserializerGroups extends Module {
  import DeserializerGroups._

  /** The tag of a group is taken: its number, whether the group begins, and where in the input the tag is. */
  val taken = IO(Flipped(Valid(new GroupTag)))

  /** Forget all groups. */
  val clear = IO(Input(Bool()))

  /** A group is open; one is open behind the tag that is taken in this cycle, or without one. */
  val open = IO(Output(Bool()))
  val openNext = IO(Output(Bool()))

  /** One more fits within it. */
  val fits = IO(Output(Bool()))

  /** The innermost group's number, and where the outermost one began. */
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

  /** Groups within each other that are kept. */
  val depth: Int = 8
}
