package rackwright.daronpon

import chisel3._
import chisel3.util._

/** What to announce to the peers. */
class Announcement(params: Params) extends Bundle {

  /** Announce only if the load has crossed a power of two. */
  val judges = Bool()
  val audience = Audience()
  val service = UInt(params.serviceBits.W)
  val now = UInt(Sizes.timeBits.W)
}

/** Checks the load of a service after a change, and announces it to the peers, while the next arrival is being looked
  * up (`engine/crates/network/dispatch/src/tell.rs`, `changed`). Takes seven cycles if nothing is announced.
  */
class Announcer(params: Params) extends Module with Counts {
  val settings = IO(Input(new Settings))

  /** Restarts the numbering of messages. */
  val clear = IO(Input(Bool()))
  val start = IO(Flipped(Valid(new Announcement(params))))
  val free = IO(Output(Bool()))

  /** Announcing: the state of the peers as of time `now` is requested. */
  val telling = IO(Output(Bool()))
  val now = IO(Output(UInt(Sizes.timeBits.W)))

  // The redirected request.
  val receiver = IO(Input(UInt(params.peerBits.W)))
  val request = IO(Input(new Order))
  val event = IO(Input(new Arrival(params)))
  val hops = IO(Input(UInt(8.W)))

  // The index of the service that is checked or announced, its state as of the cycle before, and the new judgement.
  val service = IO(Output(UInt(params.serviceBits.W)))
  val serviceEntries = IO(Input(Vec(params.services, new ServiceEntry)))
  val serviceState = IO(Input(new ServiceState))
  val judged = IO(Output(Valid(new Judgement)))

  // The peer that is addressed.
  val peer = IO(Output(UInt(params.peerBits.W)))
  val entry = IO(Input(new PeerEntry(params)))
  val state = IO(Input(new PeerState))
  val alive = IO(Input(Vec(params.peers, Bool())))
  val tells = IO(Output(Bool()))
  val truthAt = IO(Output(UInt((Sizes.timeBits + 1).W)))

  val writerStart = IO(Output(Bool()))
  val writerFree = IO(Input(Bool()))
  val writer = IO(Output(Valid(new HashedWord)))
  val order = IO(Decoupled(new Order))

  private object Phase extends ChiselEnum {
    val idle, look, judge, tell = Value
  }
  private val phase = RegInit(Phase.idle)
  private val said = Reg(new Announcement(params))
  private val monitor = Module(new Monitor)
  private val sender = Module(new ReportSender(params))

  free := phase === Phase.idle
  telling := sender.busy
  now := said.now
  service := Mux(sender.busy, sender.service, said.service)

  monitor.settings := settings
  monitor.start := RegNext(phase === Phase.look, false.B)
  monitor.state := serviceState
  judged.valid := phase === Phase.judge && monitor.done
  judged.bits := monitor.judgement

  sender.start := false.B
  sender.audience := Mux(free, start.bits.audience, Audience.service)
  sender.settings := settings
  sender.now := said.now
  sender.subject := said.service
  sender.receiver := receiver
  sender.request := request
  sender.event := event
  sender.hops := hops
  sender.clear := clear
  sender.entry := entry
  sender.state := state
  sender.alive := alive
  sender.serviceEntries := serviceEntries
  sender.serviceState := serviceState
  sender.writerFree := writerFree
  peer := sender.peer
  tells := sender.tells
  truthAt := sender.truthAt
  writerStart := sender.writerStart
  writer := sender.writer
  order <> sender.order
  count("gossip", sender.gossips)
  count("truths", sender.truths)

  switch(phase) {
    is(Phase.idle) {
      said := start.bits
      when(start.valid) {
        sender.start := !start.bits.judges
        phase := Mux(start.bits.judges, Phase.look, Phase.tell)
      }
    }
    is(Phase.look) { phase := Phase.judge }
    is(Phase.judge) {
      when(monitor.done) {
        count("doubled", monitor.doubled && settings.gossip)
        count("halved", monitor.halved && settings.gossip)
        sender.start := settings.always || (settings.gossip && (monitor.doubled || monitor.halved))
        phase := Mux(sender.start, Phase.tell, Phase.idle)
      }
    }
    is(Phase.tell) { when(sender.done) { phase := Phase.idle } }
  }
}
