package rackwright.daronpon

import chisel3._
import chisel3.util._

/** One of those that are compared. */
class Contender(costBits: Int, indexBits: Int) extends Bundle {
  val present = Bool()

  /** Of equals, one with this loses to one without it that has a higher index. */
  val late = Bool()
  val cost = UInt(costBits.W)
  val index = UInt(indexBits.W)
}

/** The one with the lowest cost; of equals the first, but those that are late come last. One level in a cycle. */
class Tournament(contenders: Int, costBits: Int) extends Module {
  private val indexBits = log2Ceil(contenders)
  val in = IO(Input(Vec(contenders, new Contender(costBits, indexBits))))

  /** As many cycles later as there are levels, and one more. */
  val out = IO(Output(new Contender(costBits, indexBits)))

  private def level(now: Seq[Contender]): Seq[Contender] =
    now.grouped(2).map(pair => RegNext(better(pair.head, pair.last))).toSeq

  private def better(a: Contender, b: Contender): Contender = {
    val equal = a.cost === b.cost && a.late && !b.late
    Mux(b.present && (!a.present || b.cost < a.cost || equal), b, a)
  }

  out := Iterator.iterate[Seq[Contender]](in.map(RegNext(_)))(level).dropWhile(_.size > 1).next().head
}
