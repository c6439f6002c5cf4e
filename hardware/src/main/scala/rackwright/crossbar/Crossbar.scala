package rackwright.crossbar

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit
import rackwright.stream.{FrameArbiter, SkidBuffer}
import rackwright.unit.HardwareUnit

/** Ports that send packets to each other, each pair by a path of its own. README.md is the contract. */
class Crossbar(ports: Int) extends HardwareUnit {
  private def flit = new StreamFlit(Crossbar.flitBytes)
  private val streams = Seq.tabulate(ports) { port =>
    (
      streamInput(Crossbar.flitBytes).suggestName(s"in_$port"),
      streamOutput(Crossbar.flitBytes).suggestName(s"out_$port")
    )
  }
  private val inputs = Seq.fill(ports)(Module(new CrossbarInput(ports)))
  private val arbiters = Seq.fill(ports)(Module(new FrameArbiter(flit, ports, (flit: StreamFlit) => flit.last)))

  inputs.zipWithIndex.foreach { case (input, from) =>
    input.here := from.U
    input.in <> streams(from)._1
    arbiters.zipWithIndex.foreach { case (arbiter, to) =>
      arbiter.in(from).valid := input.out.valid && input.out.bits.to(to)
      arbiter.in(from).bits := input.out.bits.flit
    }
    input.out.ready := (VecInit(arbiters.map(_.in(from).ready)).asUInt & input.out.bits.to).orR
    assert(!input.out.valid || PopCount(input.out.bits.to) === 1.U, "a flit has no output")
  }
  arbiters.zip(streams).foreach { case (arbiter, (_, out)) => out <> SkidBuffer(arbiter.out) }

  event("flits_in", PopCount(streams.map(_._1.fire)))
  event("flits_out", PopCount(streams.map(_._2.fire)))
  event("waits", PopCount(inputs.map(input => input.out.valid && !input.out.ready)))
  event("refused", PopCount(inputs.map(_.refused)))

  val idle = idlePort()
  idle := !VecInit(inputs.map(_.out.valid) ++ streams.flatMap { case (in, out) => Seq(in.valid, out.valid) }).asUInt.orR
}

/** Widths that do not depend on the number of ports. */
object Crossbar {

  /** Bytes that enter or leave by a port in a cycle. */
  val flitBytes: Int = 8

  /** Width of a port's number in a packet. */
  val numberBits: Int = 8
}
