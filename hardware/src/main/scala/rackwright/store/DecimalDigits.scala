package rackwright.store

import chisel3._
import chisel3.util._

/** Converts numbers to decimal digits, bit by bit ("double dabble"); zeros in front are skipped by bytes. */
class DecimalDigits extends Module {
  import DecimalDigits.digits

  /** A number of 64 bits. */
  val number = IO(Flipped(Decoupled(UInt(64.W))))

  /** Its digits as characters, the first one first. */
  val digit = IO(Decoupled(UInt(8.W)))
  val last = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, convert, seek, give = Value
  }
  private val state = RegInit(State.idle)
  private val binary = Reg(UInt(64.W))
  private val left = Reg(UInt(7.W))

  /** A bit has been converted that is not a zero in front. */
  private val begun = Reg(Bool())
  private val decimal = Reg(Vec(digits, UInt(4.W)))
  private val at = Reg(UInt(log2Ceil(digits).W))

  number.ready := state === State.idle
  when(number.fire) {
    binary := number.bits
    left := 64.U
    decimal.foreach(_ := 0.U)
    begun := false.B
    state := State.convert
  }
  private val skips = !begun && left > 8.U && binary(63, 56) === 0.U
  private val adjusted = decimal.map(value => Mux(value >= 5.U, value + 3.U, value))
  when(state === State.convert) {
    left := Mux(skips, left - 8.U, left - 1.U)
    binary := Mux(skips, binary << 8, binary << 1)
    when(!skips) {
      begun := true.B
      for (i <- 0 until digits) {
        decimal(i) := Cat(adjusted(i)(2, 0), if (i == 0) binary(63) else adjusted(i - 1)(3))
      }
      when(left === 1.U) { state := State.seek }
    }
  }
  when(state === State.seek) {
    val highest = (1 until digits).foldLeft(0.U(log2Ceil(digits).W))((found, i) => Mux(decimal(i) =/= 0.U, i.U, found))
    at := highest
    state := State.give
  }
  digit.valid := state === State.give
  digit.bits := Cat(3.U(4.W), decimal(at))
  last := at === 0.U
  when(digit.fire) {
    at := at - 1.U
    when(last) { state := State.idle }
  }
}

object DecimalDigits {

  /** Of the largest number of 64 bits. */
  val digits: Int = 20
}
