package rackwright.internet

import chisel3._
import chisel3.util.log2Ceil

/** The result of a received frame: each has exactly one, and one counter counts it. */
object Cause {

  /** In the order of their codes, which is also that of the counters. */
  val names: Seq[String] =
    Counters.names.dropWhile(_ != "delivered").takeWhile(_ != "sent_frames")

  /** Width of a code. */
  val width: Int = log2Ceil(names.size)

  /** The code of frames without an error so far. */
  val none: UInt = 0.U(width.W)

  /** The code of a name. */
  def apply(name: String): UInt = {
    require(names.contains(name), s"no frame ends as $name")
    names.indexOf(name).U(width.W)
  }

  /** The first cause that holds, the earlier ones of a frame before. */
  def first(before: UInt, causes: (Bool, String)*): UInt =
    Mux(before =/= none, before, causes.foldRight(none) { case ((holds, name), rest) => Mux(holds, Cause(name), rest) })
}
