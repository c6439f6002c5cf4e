package rackwright.gather

import chisel3._
import chisel3.util._

/** A table, as the program has described it. */
class Table extends Bundle {
  val base = UInt(64.W)

  /** Logarithms of the bytes of an element, 0 to 5. */
  val elementShift = UInt(3.W)

  /** An index has 8 bytes, not 4. */
  val wide = Bool()

  /** The logarithm of the answers for an element. */
  def pieceShift: UInt = Mux(elementShift > 3.U, elementShift - 3.U, 0.U)

  /** Answers for an element, less one. */
  def lastPiece: UInt = ((1.U(3.W) << pieceShift) - 1.U)(1, 0)
}

/** Indices whose elements are to be returned. */
class Sequence extends Bundle {
  val table = new Table
  val address = UInt(64.W)
  val count = UInt(Params.countBits.W)

  /** Elements are brought into the shared cache and not answered. */
  val drops = Bool()
}

/** An element that is to be requested, or has been: its position in its beat, and its use. */
class Place extends Bundle {
  val offset = UInt(log2Ceil(Params.beatBytes).W)
  val elementShift = UInt(3.W)
  val lastPiece = UInt(2.W)
  val drops = Bool()
}
