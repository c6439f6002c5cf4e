package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Handles arrivals, in order, as the policy crate does. This module wires the decision-making modules to the tables
  * that they share, and arbitrates access to these.
  */
class Control(params: Params) extends Module {
  val settings = IO(Input(new Settings))
  val tables = IO(Input(new Tables(params)))
  val start = IO(Input(Bool()))
  val arrival = IO(Flipped(Decoupled(new Arrival(params))))
  val told = IO(Input(new Told))
  val reportEntries = IO(Input(Vec(Sizes.entries, new ReportEntry)))
  val release = IO(Output(Bool()))
  val order = IO(Decoupled(new Order))
  val writerStart = IO(Output(Bool()))
  val writerFree = IO(Input(Bool()))
  val writer = IO(Output(Valid(new HashedWord)))

  /** The time at which the next tick is due; all ones: never. Valid when the unit is idle. */
  val nextTimer = IO(Output(UInt(64.W)))

  /** Counter increments of the cycle before, in the order of [[Counters.names]]. */
  val amounts = IO(Output(Vec(Counters.names.size, UInt(Sizes.countBits.W))))
  val idle = IO(Output(Bool()))

  private val lookup = Module(new Lookup(params))
  private val decider = Module(new Decider(params))
  private val announcer = Module(new Announcer(params))
  private val reportReceiver = Module(new ReportReceiver(params))
  private val startup = Module(new Startup(params))
  private val epochs = Module(new Epochs(params))
  private val recount = Module(new Recount(params))
  private val probes = Module(new Probes(params))
  private val arithmetic = Module(new Arithmetic)
  private val replicas = Module(new Replicas(params))
  private val services = Module(new Services(params))
  private val peers = Module(new Peers(params))

  private val started = RegInit(false.B)
  when(start) { started := true.B }
  private val running = started && startup.free

  // Arrivals.
  lookup.arrival.valid := arrival.valid && running
  lookup.arrival.bits := arrival.bits
  arrival.ready := lookup.arrival.ready && running
  lookup.change := decider.change
  lookup.epoch := epochs.epoch
  lookup.epochEnds := epochs.ends
  lookup.again := epochs.ended
  lookup.clear := start

  decider.settings := settings
  decider.running := running
  decider.looked <> lookup.out
  decider.told := told
  decider.epoch := epochs.epoch
  decider.replicaEntry := replicas.entry
  decider.replicaState := replicas.state
  decider.leastReplica := replicas.least
  decider.serviceState := services.state
  decider.leastPeer := peers.least
  decider.announcerFree := announcer.free
  decider.telling := announcer.telling
  decider.quiet := announcer.free && !reportReceiver.busy && epochs.free && !recount.busy && probes.free
  release := decider.release

  // Arbitration for the replicas.
  replicas.entries := tables.replicas
  replicas.epoch := epochs.epoch
  replicas.begun := decider.begun
  replicas.value := Mux(startup.free, arithmetic.product, arithmetic.reciprocal)
  replicas.service := decider.service
  replicas.turn := decider.replica
  when(!startup.free) { replicas.turn := startup.replica }
  when(!epochs.free) { replicas.turn := epochs.replica }
  when(!probes.free) { replicas.turn.index := probes.replica }
  when(recount.busy) { replicas.turn.index := recount.index }

  // Arbitration for the services.
  services.index := decider.service
  services.action := decider.serviceAction
  services.value := services.state
  services.value.error := reportReceiver.error
  services.value.cores := recount.cores
  services.value.outstanding := recount.outstanding
  services.value.reciprocal := Mux(recount.cores === 0.U, 0.U, recount.usedReciprocal)
  services.value.product := Mux(recount.cores === 0.U, 0.U, arithmetic.product)
  services.watched := announcer.service
  services.judged := announcer.judged
  when(startup.resets) {
    services.index := startup.service
    services.action := ServiceAction.reset
  }
  when(reportReceiver.busy) {
    services.index := reportReceiver.service
    when(reportReceiver.learns) { services.action := ServiceAction.err }
  }
  when(recount.busy) {
    services.index := recount.subject
    when(recount.done) { services.action := ServiceAction.count }
  }

  // Arbitration for the peers.
  peers.entries := tables.peers
  peers.clear := start
  peers.now := Mux(announcer.telling, announcer.now, decider.now)
  peers.id := told.from
  peers.index := decider.peer
  peers.service := decider.service
  peers.action := Mux(decider.believes, PeerAction.believe, PeerAction.none)
  peers.value := reportReceiver.value
  peers.value.truthAt := announcer.truthAt
  peers.believed := Peers.withOneMore(peers.view)
  when(reportReceiver.busy) {
    peers.index := reportReceiver.peer
    peers.service := reportReceiver.service
    peers.action := reportReceiver.peerAction
    peers.believed := reportReceiver.believed
  }
  when(announcer.telling) {
    peers.index := announcer.peer
    peers.action := Mux(announcer.tells, PeerAction.tell, PeerAction.none)
  }

  startup.start := start
  startup.clearing := lookup.clearing
  startup.entry := replicas.entry
  startup.calculating := arithmetic.busy
  startup.counting := recount.busy

  epochs.settings := settings
  epochs.clear := start
  epochs.start := decider.endsEpochs
  epochs.now := decider.now
  epochs.entry := replicas.entry
  epochs.state := replicas.state
  epochs.calculating := arithmetic.busy
  epochs.counting := recount.busy

  recount.start := startup.resets || epochs.recounts || decider.recounts
  recount.service := Mux(startup.free, Mux(epochs.free, decider.service, epochs.service), startup.service)
  recount.nextStep := Mux(
    startup.free,
    Mux(decider.recounts || epochs.fails, NextStep.tell, NextStep.judge),
    NextStep.none
  )
  recount.entry := replicas.entry
  recount.state := replicas.state
  recount.calculating := arithmetic.busy
  recount.reciprocal := arithmetic.reciprocal
  recount.announcing := !announcer.free

  reportReceiver.start := decider.listens
  reportReceiver.now := decider.now
  reportReceiver.peerTimeout := settings.peerTimeout
  reportReceiver.told := told
  reportReceiver.entries := reportEntries
  reportReceiver.services := tables.services
  reportReceiver.found := peers.found
  reportReceiver.place := peers.place
  reportReceiver.alive := peers.alive
  reportReceiver.known := peers.state
  reportReceiver.view := peers.view
  reportReceiver.state := services.state
  reportReceiver.calculating := arithmetic.busy
  reportReceiver.reciprocal := arithmetic.reciprocal

  arithmetic.start := startup.divides || epochs.multiplies || recount.begins || reportReceiver.begins
  arithmetic.divides := Mux(recount.busy, recount.divides, epochs.free)
  arithmetic.left := Mux(recount.busy, recount.left, epochs.left)
  arithmetic.right := MuxCase(
    replicas.state.reciprocal,
    Seq(
      recount.busy -> recount.right,
      reportReceiver.busy -> reportReceiver.cores,
      !startup.free -> replicas.entry.cores
    )
  )

  announcer.settings := settings
  announcer.clear := start
  announcer.start := decider.announces
  when(recount.announces) {
    announcer.start.valid := true.B
    announcer.start.bits.judges := recount.judges
    announcer.start.bits.audience := Audience.service
    announcer.start.bits.service := recount.subject
  }
  announcer.receiver := decider.peer
  announcer.request := decider.request
  announcer.event := decider.event
  announcer.hops := decider.hops
  announcer.serviceEntries := tables.services
  announcer.serviceState := services.watchedState
  announcer.entry := peers.entry
  announcer.state := peers.state
  announcer.alive := peers.alive
  announcer.writerFree := writerFree
  writerStart := announcer.writerStart
  writer := announcer.writer

  probes.settings := settings
  probes.clear := start
  probes.failed := epochs.fails
  probes.start := decider.probes
  probes.now := decider.now
  probes.entry := replicas.entry
  probes.state := replicas.state

  // Arbitration for orders.
  order.valid := Mux(probes.free, decider.order.valid, probes.order.valid)
  order.bits := Mux(probes.free, decider.order.bits, probes.order.bits)
  when(!announcer.free) {
    order.valid := announcer.order.valid
    order.bits := announcer.order.bits
  }
  announcer.order.ready := order.ready
  probes.order.ready := order.ready
  decider.order.ready := order.ready && announcer.free

  nextTimer := {
    val never = Fill(64, 1.U)
    val first = Mux(peers.truth < epochs.ends, peers.truth, epochs.ends)
    val second = Mux(replicas.anyFailed && probes.due < first, probes.due, first)
    RegNext(Mux(running, second.pad(64), never))
  }
  amounts := RegNext(
    VecInit(
      Seq(decider.amounts, announcer.amounts, reportReceiver.amounts, epochs.amounts, probes.amounts).transpose
        .map(_.reduce(_ | _))
    )
  )
  idle := startup.free && lookup.idle && decider.idle && decider.quiet && !peers.searching
}
