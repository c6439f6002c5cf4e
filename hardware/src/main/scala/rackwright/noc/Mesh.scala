package rackwright.noc

import chisel3._
import chisel3.util._

import rackwright.unit.HardwareUnit

/** Independent networks, with a stream port in each direction at each tile of each. README.md is the contract. */
class Mesh(params: NocParams) extends HardwareUnit {
  private val tiles = params.width * params.height
  private val networks = Seq.fill(params.networks)(Module(new Network(params)))
  private val streams = networks.zipWithIndex.flatMap { case (network, number) =>
    (0 until tiles).flatMap { tile =>
      val in = streamInput(params.flitBytes).suggestName(s"in_${number}_$tile")
      val out = streamOutput(params.flitBytes).suggestName(s"out_${number}_$tile")
      network.in(tile) <> in
      out <> network.out(tile)
      Seq(in, out)
    }
  }
  private val (taken, given) = streams.map(_.fire).zipWithIndex.partition(_._2 % 2 == 0)
  private val tallies = Seq(
    "flits_in" -> taken.map(_._1),
    "flits_out" -> given.map(_._1),
    "waits" -> networks.flatMap(_.waiting),
    "refused" -> networks.flatMap(_.refused)
  )
  tallies.foreach { case (name, values) => event(name, Tally(values)) }

  // Sums are still in the pipeline when all networks are quiet.
  private val rest = Tally.delay(tallies.map(_._2.size).max)
  private val quiet = networks.map(_.idle).reduce(_ && _) && !VecInit(streams.map(_.valid)).asUInt.orR
  private val rested = RegInit(0.U(log2Ceil(rest + 1).W))
  private val settled = rested === rest.U
  rested := Mux(!quiet, 0.U, Mux(settled, rested, rested + 1.U))
  val idle = idlePort()
  idle := quiet && settled
}
