package rackwright.queue

import chisel3._

/** Why an engine has stopped; numbers as its register `control` reads them. */
object Problem extends ChiselEnum {
  val none = Value(0.U)
  val incoming = Value(2.U)
  val outgoing = Value(3.U)
  val refused = Value(4.U)
}
