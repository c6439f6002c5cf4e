package rackwright.port

import chisel3._

/** The result of a command. The numbers are part of contract 3 and are read by software and by the engine. */
object Status {
  val width: Int = 3

  /** The whole input was consumed and the whole output written. */
  val ok: UInt = 0.U(width.W)

  /** The input is not valid for the algorithm; `input offset` is the position of the error. */
  val malformed: UInt = 1.U(width.W)

  /** The destination range is too small for the result. */
  val outputFull: UInt = 2.U(width.W)

  /** The request is well-formed but not supported by this configuration of the unit. */
  val unsupported: UInt = 3.U(width.W)

  /** Memory answered a request with a fault, or a buffer wraps around the address space. */
  val accessFault: UInt = 4.U(width.W)

  /** Names in the order of their numbers, as the engine and the command line print them. */
  val names: Seq[String] = Seq("ok", "malformed", "output_full", "unsupported", "access_fault")
}
