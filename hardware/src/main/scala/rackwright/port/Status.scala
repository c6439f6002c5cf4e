package rackwright.port

import chisel3._

/** How a command ended. The numbers are part of contract 3 and are read by software and by the engine. */
object Status {
  val width: Int = 3

  /** The whole input was consumed and the whole output written. */
  val ok: UInt = 0.U(width.W)

  /** The input is not valid for the algorithm; `input offset` says where it stopped being so. */
  val malformed: UInt = 1.U(width.W)

  /** The destination range is too small for the result. */
  val outputFull: UInt = 2.U(width.W)

  /** The request is well-formed but outside what this unit was built for. */
  val unsupported: UInt = 3.U(width.W)

  /** Memory answered a request with a fault, or a buffer wraps around the address space. */
  val accessFault: UInt = 4.U(width.W)

  /** Names in the order of their numbers, as the engine and the command line print them. */
  val names: Seq[String] = Seq("ok", "malformed", "output_full", "unsupported", "access_fault")
}
