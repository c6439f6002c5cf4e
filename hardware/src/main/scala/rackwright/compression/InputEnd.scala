package rackwright.compression

import chisel3._

/** The end of the input of an operation that arrives in pieces. */
class InputEnd extends Bundle {

  /** Bytes of the source that are available, from its first one on. */
  val length = UInt(64.W)

  /** Others follow after them. */
  val more = Bool()
}
