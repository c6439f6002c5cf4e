package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.port.{MmioPort, RegisterField, RegisterMap}

/** Offsets of the registers of `traffic`, as `registers.json` has them, each of 64 bits. */
object TrafficRegisters {
  private val map = RegisterMap.read("pcie")
  val start: Int = map("start").offset
  val writes: RegisterField = map("start")("writes")
  val stopBit: RegisterField = map("start")("stop")
  val base: Int = map("base").offset
  val size: Int = map("size").offset
  val stride: Int = map("stride").offset
  val mask: Int = map("mask").offset
  val count: Int = map("count").offset
  val outstanding: Int = map("outstanding").offset
  val interval: Int = map("interval").offset
  val copy: Int = map("copy").offset
  val seed: Int = map("seed").offset
  val sum: Int = map("sum").offset
  val done: Int = map("done").offset
  val faults: Int = map("faults").offset
  val errors: Int = map("errors").offset
  val peerBeats: Int = map("peer_beats").offset
  val peerSum: Int = map("peer_sum").offset
}

/** The settings of `traffic`. */
class TrafficSettings extends Bundle {
  val base = UInt(64.W)
  val size = UInt(32.W)
  val stride = UInt(32.W)
  val mask = UInt(64.W)
  val count = UInt(32.W)
  val outstanding = UInt(16.W)
  val interval = UInt(16.W)
  val copy = UInt(16.W)
  val seed = UInt(64.W)
}

/** What it counts. */
class TrafficCounts extends Bundle {
  val sum = UInt(64.W)
  val done = UInt(32.W)
  val faults = UInt(32.W)
  val errors = UInt(32.W)
  val peerBeats = UInt(32.W)
  val peerSum = UInt(64.W)
}

/** Registers of `traffic`. README.md has their meaning. */
class TrafficRegisterFile extends Module {
  import TrafficRegisters._

  val mmio = IO(Flipped(new MmioPort))
  val settings = IO(Output(new TrafficSettings))
  val counts = IO(Input(new TrafficCounts))
  val busy = IO(Input(Bool()))

  /** A run begins: of writes, or of reads. */
  val begin = IO(Valid(Bool()))

  /** The run that lasts makes no more requests. */
  val stop = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val set = RegInit(0.U.asTypeOf(new TrafficSettings))
  settings := set
  private val fields = Seq(
    base -> set.base,
    size -> set.size,
    stride -> set.stride,
    mask -> set.mask,
    count -> set.count,
    outstanding -> set.outstanding,
    interval -> set.interval,
    copy -> set.copy,
    seed -> set.seed
  )
  private val read = Seq(
    start -> busy,
    sum -> counts.sum,
    done -> counts.done,
    faults -> counts.faults,
    errors -> counts.errors,
    peerBeats -> counts.peerBeats,
    peerSum -> counts.peerSum
  ) ++ fields

  private val answered = RegInit(false.B)
  private val answer = Reg(UInt(64.W))
  mmio.request.ready := !answered
  mmio.response.valid := answered
  mmio.response.bits.data := answer
  when(mmio.response.fire) { answered := false.B }
  private val access = mmio.request.bits
  when(mmio.request.fire) {
    answered := true.B
    answer := MuxLookup(access.address, 0.U(64.W))(read.map { case (at, value) => at.U -> value })
    // The settings of a run do not change while it is in progress.
    when(access.write && !busy) {
      fields.foreach { case (at, field) =>
        when(access.address === at.U) { field := access.data(field.getWidth - 1, 0) }
      }
    }
  }
  private val starts = mmio.request.fire && access.write && access.address === start.U
  begin.valid := starts && !busy && !stopBit.of(access.data).asBool
  begin.bits := writes.of(access.data)
  stop := starts && stopBit.of(access.data).asBool
  idle := !answered
}
