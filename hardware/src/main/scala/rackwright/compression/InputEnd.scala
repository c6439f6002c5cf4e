package rackwright.compression

import chisel3._

/** How far the input of an operation goes that comes in pieces. */
class InputEnd extends Bundle {

  /** Bytes of the source that are there, from its first one on. */
  val length = UInt(64.W)

  /** Others follow behind them. */
  val more = Bool()
}
