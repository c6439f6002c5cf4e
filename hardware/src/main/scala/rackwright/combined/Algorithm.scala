package rackwright.combined

import chisel3._
import chisel3.util._

import rackwright.operation.Setting

/** A format of a unit of several formats.
  *
  * @param name
  *   its name for users.
  * @param codes
  *   its values of the setting ALGORITHM: one per value of the setting specific to a unit of this format alone
  *   (DEFLATE's wrapper, ZStd's checksum).
  */
sealed abstract class Algorithm(val name: String, val codes: Seq[Int]) {

  /** Whether an operation selects it. */
  def asked(code: UInt): Bool = codes.map(code === _.U).reduce(_ || _)

  /** The corresponding setting of a unit of this format alone. */
  def option(code: UInt): UInt =
    MuxLookup(code, 0.U(log2Up(codes.size).W))(codes.zipWithIndex.map { case (own, index) => own.U -> index.U })
}

object Algorithm {
  case object Snappy extends Algorithm("snappy", Seq(0))
  case object Zstd extends Algorithm("zstd", Seq(1, 2))
  case object Deflate extends Algorithm("deflate", Seq(4, 5, 6))

  val all: Seq[Algorithm] = Seq(Snappy, Zstd, Deflate)

  /** Bits of the setting; all ones are no algorithm. */
  val bits: Int = 3

  /** Two or more of them, the ones with most first. */
  val combinations: Seq[Seq[Algorithm]] = Seq(all) ++ all.combinations(2)

  /** The setting that chooses among `algorithms`: at reset the first code of the first one. */
  def setting(algorithms: Seq[Algorithm]): Setting =
    Setting("algorithm", 12, bits, algorithms.head.codes.head, "the format and what stands around the data")

  /** Refuses unsupported combinations, with a list of the supported ones. */
  def check(algorithms: Seq[Algorithm]): Unit = require(
    combinations.contains(algorithms),
    s"algorithms is one of ${combinations.map(word).mkString(", ")}, not ${word(algorithms)}"
  )

  /** The word for a combination: `snappy+zstd`. */
  def word(algorithms: Seq[Algorithm]): String = algorithms.map(_.name).mkString("+")
}
