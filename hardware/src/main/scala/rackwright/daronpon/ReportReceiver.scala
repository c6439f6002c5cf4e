package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Applies the report of a peer if it is newer than the stored state (`engine/crates/network/dispatch/src/tell.rs`,
  * `hear`). Takes four cycles for each entry, and some twenty more if the peer's number of cores has changed.
  */
class ReportReceiver(params: Params) extends Module with Counts {
  val start = IO(Input(Bool()))
  val now = IO(Input(UInt(Sizes.timeBits.W)))
  val peerTimeout = IO(Input(UInt(Sizes.timeBits.W)))
  val told = IO(Input(new Told))
  val entries = IO(Input(Vec(Sizes.entries, new ReportEntry)))
  val services = IO(Input(Vec(params.services, new ServiceEntry)))
  val busy = IO(Output(Bool()))

  // The peer that sent the report.
  val found = IO(Input(Bool()))
  val place = IO(Input(UInt(params.peerBits.W)))
  val alive = IO(Input(Vec(params.peers, Bool())))
  val known = IO(Input(new PeerState))
  val view = IO(Input(new View))
  val peer = IO(Output(UInt(params.peerBits.W)))
  val peerAction = IO(Output(PeerAction()))
  val value = IO(Output(new PeerState))
  val believed = IO(Output(new View))

  // The service of an entry.
  val service = IO(Output(UInt(params.serviceBits.W)))
  val state = IO(Input(new ServiceState))
  val learns = IO(Output(Bool()))
  val error = IO(Output(SInt((Sizes.wireLoadBits + 10).W)))

  // Access to the reciprocal unit.
  val begins = IO(Output(Bool()))
  val cores = IO(Output(UInt(Sizes.countBits.W)))
  val calculating = IO(Input(Bool()))
  val reciprocal = IO(Input(UInt(Sizes.reciprocalBits.W)))

  private object Phase extends ChiselEnum {
    val idle, find, read, judge, line, look, compare, shift, divide, believe = Value
  }
  private val phase = RegInit(Phase.idle)
  private val at = Reg(UInt(5.W))
  private val line = Reg(new ReportEntry)
  private val which = Reg(UInt(params.serviceBits.W))
  private val isKnown = Reg(Bool())
  private val difference = Reg(UInt(Sizes.wireLoadBits.W))
  private val isPeer = Reg(Bool())
  private val from = Reg(UInt(params.peerBits.W))

  private val ahead = told.sequence - known.sequence - 1.U
  private val newer = told.incarnation > known.incarnation ||
    (told.incarnation === known.incarnation && ahead < ReportReceiver.half)
  private val accepted = !(known.heard && alive(from)) || newer
  private val matches = VecInit(services.map(entry => entry.present && entry.number === line.service)).asUInt

  busy := phase =/= Phase.idle
  peer := from
  peerAction := PeerAction.none
  value := DontCare
  value.aliveUntil := now +& peerTimeout
  value.incarnation := told.incarnation
  value.sequence := told.sequence
  believed.load := line.load
  believed.cores := line.cores
  believed.step := Mux(
    line.cores === 0.U,
    0.U,
    Mux(line.cores === view.cores, view.step, reciprocal >> Sizes.loadShift)
  )
  service := which
  learns := false.B
  error := state.error + ((Cat(difference, 0.U(8.W)).zext - state.error) >> ReportReceiver.errorShift)
  begins := false.B
  cores := line.cores

  private def next(): Unit = {
    at := at + 1.U
    phase := Phase.line
  }
  switch(phase) {
    is(Phase.idle) { when(start) { phase := Phase.find } }
    is(Phase.find) {
      // The id of the sender was presented to the table of peers in the cycle before.
      isPeer := found
      from := place
      phase := Phase.read
    }
    is(Phase.read) { phase := Phase.judge }
    is(Phase.judge) {
      count("strangers", !isPeer)
      count("stale", isPeer && !accepted)
      count("heard", isPeer && accepted)
      at := 0.U
      phase := Phase.line
      when(isPeer && accepted) { peerAction := PeerAction.hear }.otherwise { phase := Phase.idle }
    }
    is(Phase.line) {
      line := entries(at(3, 0))
      phase := Phase.look
      when(at === told.entries) { phase := Phase.idle }
    }
    is(Phase.look) {
      which := OHToUInt(matches)
      isKnown := matches.orR
      phase := Phase.compare
    }
    is(Phase.compare) { when(isKnown) { phase := Phase.shift }.otherwise { next() } }
    is(Phase.shift) {
      difference := Mux(view.load > line.load, view.load - line.load, line.load - view.load)
      begins := line.cores =/= view.cores && line.cores =/= 0.U
      phase := Mux(begins, Phase.divide, Phase.believe)
    }
    is(Phase.divide) { when(!calculating) { phase := Phase.believe } }
    is(Phase.believe) {
      peerAction := PeerAction.believe
      learns := view.cores =/= 0.U && line.cores =/= 0.U
      next()
    }
  }
}

/** Constants of the policy crate. */
object ReportReceiver {

  /** The average error is an exponential moving average with a weight of one in two to this power. */
  val errorShift: Int = 4

  /** A message whose number is ahead by this much or more is an old one. */
  val half: UInt = "h7fffffff".U(32.W)
}
