package rackwright.ordered

import chisel3._

import rackwright.port.Status

/** What becomes of a walk: it looks into the cache, or fetches its node, or has ended. */
class Outcome extends Bundle {
  val walk = new Walk
  val looks, fetches, ends = Bool()
  val status = UInt(Status.width.W)

  def ended: Ended = {
    val made = Wire(new Ended)
    made.answer := walk.answer
    made.status := status
    made
  }
}

/** Where a walk goes from a node, or from a search of the cache that has not found one; known one cycle later. */
class Decision(params: Params) extends Module {
  val tree = IO(Input(new Tree))
  val finding = IO(Input(new Finding))

  /** The cache or memory has the node of the finding. */
  val hasNode = IO(Input(Bool()))
  val fault = IO(Input(Bool()))
  val outcome = IO(Output(new Outcome))

  private val before = finding.walk
  private val after = WireDefault(before)
  private val isInCache = WireDefault((!params.byRange).B)
  private val status = WireDefault(Status.ok)
  private val (isOver, goes) = (WireDefault(false.B), WireDefault(false.B))
  private def end(reason: UInt): Unit = {
    isOver := true.B
    status := reason
  }
  private def goTo(number: UInt): Unit = {
    after.number := number
    goes := true.B
  }

  when(!hasNode) {
    isInCache := false.B
    if (params.byRange) when(!before.follows) {
      // Until then, it has been at the root.
      after.step := Step.wide
      isInCache := before.step === Step.near && tree.wide.level =/= Pattern.none
    }
  }.elsewhen(before.level =/= 0.U) {
    after.level := before.level - 1.U
    after.low := finding.low
    after.end := finding.end
    goTo(finding.child)
  }.otherwise {
    val answer = before.answer
    after.answer.count := answer.count + finding.count
    after.answer.sum := answer.sum + finding.sum
    when(answer.count === 0.U && finding.count =/= 0.U) { after.answer.first := finding.first }
    when(finding.passed || finding.next === 0.U) { end(Status.ok) }.otherwise {
      // The next leaf begins where this one ends.
      after.follows := true.B
      after.known := false.B
      after.step := Step.near
      when(before.known) { after.key := before.end }
      if (params.byRange) isInCache := before.known && tree.near.level === 0.U
      after.leaves := before.leaves + 1.U
      goTo(finding.next)
      when(before.leaves.andR) { end(Status.malformed) }
    }
  }
  when(fault) { end(Status.accessFault) }

  // Whether there is a node with that number.
  private val isLost = goes && !tree.has(after.number)
  private val found = Wire(new Outcome)
  found.walk := after
  found.ends := isOver || isLost
  found.looks := isInCache && !found.ends
  found.fetches := !isInCache && !found.ends
  found.status := Mux(isOver, status, Mux(isLost, Status.malformed, Status.ok))
  outcome := RegNext(found)
}
