package rackwright.ordered

import chisel3._
import chisel3.util._

/** A walk at a node. */
class Visit extends Bundle {
  val walk = new Walk
  val node = new Node
}

/** What a node says to a walk: the child to go to, or what the keys of a leaf add up to. */
class Finding extends Bundle {
  val walk = new Walk
  val child = UInt(Node.numberBits.W)
  val low, end = UInt(64.W)

  /** Of a leaf: the keys sought, the value of the first one, the sum, whether greater keys follow or are known to end
    * the range, and the next leaf.
    */
  val count = UInt(log2Ceil(Node.keys + 1).W)
  val first = UInt(32.W)
  val sum = UInt(35.W)
  val passed = Bool()
  val next = UInt(Node.numberBits.W)
}

/** Compares keys, chooses, and adds up; the finding is there after three cycles. */
class NodeSearch extends Module {
  val visit = IO(Input(new Visit))
  val finding = IO(Output(new Finding))
  private def words(node: Node, count: Int): Seq[UInt] = Seq.tabulate(count)(node.word)

  // 1: keys are compared.
  private val (node, walk) = (visit.node, visit.walk)
  private val keys = Seq.tabulate(Node.keys)(node.key)
  private def known(test: UInt => Bool): Seq[Bool] = keys.map(key => RegNext(test(key)))
  private val reached = known(_ <= walk.key)
  private val unreached = known(_ >= walk.key)
  private val inside = known(_ <= walk.high)
  private val unused = known(_ === Node.end)
  private val isWithin = RegNext(walk.known && walk.high < walk.end)

  // 2: which child, and which values, and the first sums. Children begin at their keys: the first has none.
  private val index = PopCount(reached.zip(unused).map { case (is, not) => is && !not })
  private val isChild = UIntToOH(index, Node.keys + 1)
  private val isLast = VecInit(unused :+ true.B)(index)
  private val isInside = inside.zip(unused).map { case (is, not) => is && !not }
  private val counted = unreached.zip(isInside).map { case (above, below) => above && below }
  private val passed = inside.zip(unused).map { case (is, not) => !is && !not }.reduce(_ || _) || isWithin

  private val here = RegNext(visit)
  private val bounds = Seq.tabulate(Node.keys)(here.node.key)
  private val chosen = Wire(new Finding)
  chosen.walk := here.walk
  chosen.child := Mux1H(isChild, words(here.node, Node.keys + 1))
  chosen.low := Mux1H(isChild, here.walk.low +: bounds)
  chosen.end := Mux(isLast, here.walk.end, Mux1H(isChild, bounds :+ 0.U))
  chosen.count := PopCount(counted)
  chosen.first := PriorityMux(counted.zip(words(here.node, Node.keys)))
  chosen.sum := 0.U
  chosen.passed := passed
  chosen.next := here.node.next
  private val values = counted.zip(words(here.node, Node.keys)).map { case (is, value) => Mux(is, value, 0.U) }
  private val pairs = Seq(values(0) +& values(1), values(2) +& values(3)).map(RegNext(_))

  // 3: the sum.
  private val added = WireDefault(RegNext(chosen))
  added.sum := pairs(0) +& pairs(1) +& RegNext(values(4))
  finding := RegNext(added)
}
