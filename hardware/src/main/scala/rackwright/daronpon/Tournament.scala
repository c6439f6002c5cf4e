package rackwright.daronpon

import chisel3._
import chisel3.util._

/** One of the candidates that are compared. */
class Contender(costBits: Int, indexBits: Int) extends Bundle {
  val present = Bool()

  /** Breaks ties: a late candidate loses to one that is not late, even if that has a higher index. */
  val late = Bool()
  val cost = UInt(costBits.W)
  val index = UInt(indexBits.W)
}

/** Selects the candidate with the lowest cost; of equal ones the first, but late ones last. Each level takes one cycle.
  */
class Tournament(contenders: Int, costBits: Int) extends Module {
  private val indexBits = log2Ceil(contenders)
  val in = IO(Input(Vec(contenders, new Contender(costBits, indexBits))))

  /** Valid after the number of levels plus one cycles. */
  val out = IO(Output(new Contender(costBits, indexBits)))

  private def level(now: Seq[Contender]): Seq[Contender] =
    now.grouped(2).map(pair => RegNext(better(pair.head, pair.last))).toSeq

  private def better(a: Contender, b: Contender): Contender = {
    val equal = a.cost === b.cost && a.late && !b.late
    Mux(b.present && (!a.present || b.cost < a.cost || equal), b, a)
  }

  out := Iterator.iterate[Seq[Contender]](in.map(RegNext(_)))(level).dropWhile(_.size > 1).next().head
}
