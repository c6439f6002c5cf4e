package rackwright.store

import chisel3._
import chisel3.util._

/** A word of a command line, as far as it has been read. */
class Token extends Bundle {

  /** The latest bytes, the last one in the lowest bits. */
  val text = UInt((8 * Token.mostBytes).W)

  /** Bytes; 255 and more are not distinguished. */
  val bytes = UInt(8.W)

  /** Its value, if it is a number: digits behind one sign at most. */
  val number = UInt(64.W)
  val digits = Bool()
  val isNumber = Bool()
  val negative = Bool()
  val overflow = Bool()

  def isEmpty: Bool = bytes === 0.U

  /** A number from 0 to 2^64 - 1. */
  def isUnsigned: Bool = isNumber && digits && !negative && !overflow

  /** A number from -2^63 to 2^63 - 1. */
  def isSigned: Bool = isNumber && digits && !overflow && (!number(63) || negative && !number(62, 0).orR)

  /** Its low 32 bits. */
  def low: UInt = Mux(negative, 0.U - number(31, 0), number(31, 0))

  /** Whether it is this text of at most [[Token.mostBytes]] characters. */
  def is(wanted: String): Bool = bytes === wanted.length.U && text === Token.packed(wanted)
}

object Token {

  /** Characters of the longest word that is compared with a text. */
  val mostBytes: Int = 9

  def empty: Token = {
    val token = WireDefault(0.U.asTypeOf(new Token))
    token.isNumber := true.B
    token
  }

  private def packed(text: String): UInt = text.foldLeft(BigInt(0))(_ << 8 | _.toInt).U((8 * mostBytes).W)

  /** `token` and one more byte. */
  def joined(token: Token, byte: UInt): Token = {
    val next = WireDefault(token)
    val digit = byte(7, 4) === 3.U && byte(3, 0) < 10.U
    val isMinus = byte === '-'.toInt.U
    val sign = token.isEmpty && (isMinus || byte === '+'.toInt.U)
    val tenfold = (token.number << 3) +& (token.number << 1) +& byte(3, 0)
    next.text := Cat(token.text(8 * (mostBytes - 1) - 1, 0), byte)
    next.bytes := Mux(token.bytes.andR, token.bytes, token.bytes + 1.U)
    next.isNumber := token.isNumber && (digit || sign)
    next.digits := token.digits || digit
    next.negative := token.negative || (sign && isMinus)
    when(digit) {
      next.number := tenfold(63, 0)
      next.overflow := token.overflow || tenfold(67, 64).orR
    }
    next
  }
}
