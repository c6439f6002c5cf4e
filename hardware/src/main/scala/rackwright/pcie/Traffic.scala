package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.memory.SramQueue
import rackwright.unit.{Attach, HardwareUnit}

/** A card that makes DMA: reads and writes of the host's memory, or writes into the window of another card. README.md
  * is the contract.
  */
class Traffic(params: Params) extends HardwareUnit {
  override def attach: Seq[Attach] = Seq(Attach.Card)
  val packetsIn = streamInput(Params.beatBytes).suggestName("packets_in")
  val packetsOut = streamOutput(Params.beatBytes).suggestName("packets_out")
  val creditsIn = streamInput(PcieFunction.creditBytes).suggestName("credits_in")
  val creditsOut = streamOutput(PcieFunction.creditBytes).suggestName("credits_out")
  val stamps = streamOutput(Traffic.stampBytes)
  val idle = idlePort()

  private val function = Module(new PcieFunction(params, Traffic.identity))
  private val registers = Module(new TrafficRegisterFile)
  private val generator = Module(new TrafficGenerator(params))
  private val clerk = Module(new TrafficClerk)

  function.packetsIn <> packetsIn
  packetsOut <> function.packetsOut
  function.creditsIn <> creditsIn
  creditsOut <> function.creditsOut
  registers.mmio <> function.registers
  registers.busy := generator.busy || clerk.busy
  registers.counts := clerk.counts
  generator.settings := registers.settings
  generator.begin := registers.begin
  generator.stop := registers.stop
  function.read <> generator.read
  generator.readBeat <> function.readBeat
  function.write <> generator.write
  function.writeData <> generator.writeData
  generator.written := function.written
  clerk.begin := registers.begin.valid
  clerk.issued := generator.issued
  clerk.done := generator.done
  clerk.took := generator.took
  clerk.fault := generator.fault
  function.raise := Cat(function.peerEnd, generator.ends)
  clerk.peerBeat := function.peerBeat
  clerk.errors := function.errors
  stamps.valid := clerk.stamp.valid
  stamps.bits.data := clerk.stamp.bits
  stamps.bits.keep := Fill(Traffic.stampBytes, 1.U(1.W))
  stamps.bits.last := true.B

  idle := function.idle && registers.idle && !generator.busy && !clerk.busy
  event("issued", generator.issued)
  event("done", generator.done)
  event("credit_stall", function.starved)
  event("unexpected_completions", function.errors.unexpected)
  event("completion_timeouts", function.errors.timedOut)
  event("unsupported_requests", function.errors.unsupported)
  event("dropped_writes", function.errors.dropped)
}

object Traffic {

  /** Bytes of a stamp: the cycles in which a request was issued and done, 32 bits each. */
  val stampBytes: Int = 8

  /** Maximum number of outstanding requests. */
  val outstanding: Int = 1024

  /** No vendor has the number; the class is that of processing accelerators. Its interrupts: the end of a run, and of a
    * packet of another card.
    */
  val identity: Identity = Identity(0x5257, 0x0001, 0x120000, Seq(12, PeerWindow.bits), vectors = 2)
}

/** Counts the events of a run, and stores the times at which its requests were issued. */
class TrafficClerk extends Module {
  val begin = IO(Input(Bool()))
  val issued = IO(Input(Bool()))
  val done = IO(Input(Bool()))
  val took = IO(Flipped(Valid(UInt(64.W))))
  val fault = IO(Input(Bool()))
  val peerBeat = IO(Flipped(Valid(UInt((8 * Params.beatBytes).W))))
  val errors = IO(Input(new FunctionErrors))
  val counts = IO(Output(new TrafficCounts))
  val stamp = IO(Valid(UInt((8 * Traffic.stampBytes).W)))
  val busy = IO(Output(Bool()))

  private val counted = RegInit(0.U.asTypeOf(new TrafficCounts))
  counts := counted
  private val now = RegInit(0.U(32.W))
  private val issues = Module(new SramQueue(UInt(32.W), Traffic.outstanding, direct = true))
  issues.clear := false.B
  busy := !issues.empty
  // Time advances while a request is in progress.
  when(issued || busy) { now := now + 1.U }
  issues.enq.valid := issued
  issues.enq.bits := now
  issues.deq.ready := done
  assert(!issued || issues.enq.ready, "more requests are under way than are kept")
  stamp.valid := done
  stamp.bits := Cat(now, issues.deq.bits)

  counted.sum := Mux(begin, 0.U, Mux(took.valid && !fault, counted.sum + took.bits, counted.sum))
  counted.done := Mux(begin, 0.U, counted.done + done)
  counted.faults := Mux(begin, 0.U, counted.faults + fault)
  private val wrong = RegNext(errors, 0.U.asTypeOf(new FunctionErrors))
  counted.errors := counted.errors + Seq(wrong.unexpected, wrong.timedOut, wrong.unsupported, wrong.dropped)
    .map(_.asUInt).reduce(_ +& _)
  private val peer = RegNext(peerBeat.bits(63, 0) + peerBeat.bits(127, 64))
  when(RegNext(peerBeat.valid, false.B)) {
    counted.peerBeats := counted.peerBeats + 1.U
    counted.peerSum := counted.peerSum + peer
  }
}
