package rackwright.protobuf.write

import chisel3._
import chisel3.util._

/** Assigns each request to the lane with the least load, and selects the lane whose output is next: that of the oldest
  * request.
  */
class SerializerTurns(params: SerializerParams) extends Module {
  private val laneBits = log2Ceil(params.lanes).max(1)

  /** Requests that wait in each lane; whether it accepts one more. */
  val loads = IO(Input(Vec(params.lanes, UInt(log2Ceil(params.laneQueue + 2).W))))
  val takes = IO(Input(Vec(params.lanes, Bool())))

  /** The lane of the next request, if any; the request has been assigned. */
  val goesTo = IO(Valid(UInt(laneBits.W)))
  val gives = IO(Input(Bool()))

  /** The lane of the oldest request; the end of its output. */
  val comesFrom = IO(Valid(UInt(laneBits.W)))
  val finished = IO(Input(Bool()))

  private val order = Module(new Queue(UInt(laneBits.W), Serializer.inFlight(params)))
  private val lanes = Seq.tabulate(params.lanes)(lane => (!takes(lane) ## loads(lane), lane.U(laneBits.W)))
  private val (_, least) = lanes.reduce { (one, other) =>
    val isLess = other._1 < one._1
    (Mux(isLess, other._1, one._1), Mux(isLess, other._2, one._2))
  }
  // The choice is registered; after each one, the loads are evaluated again.
  private val chosen = RegNext(least)
  private val isChosen = RegNext(takes.asUInt.orR && order.io.enq.ready && !gives, false.B)
  goesTo.valid := isChosen
  goesTo.bits := chosen
  order.io.enq.valid := gives
  order.io.enq.bits := chosen
  comesFrom.valid := order.io.deq.valid
  comesFrom.bits := order.io.deq.bits
  order.io.deq.ready := finished
}
