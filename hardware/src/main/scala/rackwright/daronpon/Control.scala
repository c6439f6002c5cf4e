package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Takes arrivals one after the other and does what the policy crate would do, in its order
  * (`engine/crates/dispatch/src/dispatcher.rs`, `decide.rs`, `time.rs`).
  *
  * The boxes that hold tables are shared with the boxes that take several steps, of which one works at a time.
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

  /** When a tick is wanted; all ones: never. Right when the unit is idle. */
  val nextTimer = IO(Output(UInt(64.W)))

  /** What is counted in this cycle, in the order of [[Counters.names]]. */
  val amounts = IO(Output(Vec(Counters.names.size, UInt(Sizes.countBits.W))))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val stopped, clear, replicaCores, replicaReciprocal, serviceReset, serviceCount, take, settle, endEpoch,
        replicaLook, replicaMultiply, replicaForget, replicaFail, nextReplica, route, hear, find, found, knownLook,
        known, lookAgain, choose, serve, serveOrder, elsewhere, redirect, answered, alive, aliveJudge, revive, revived,
        recount, counted, changed, watch, tell, probes, probeLook, probe, drop = Value
  }
  private val state = RegInit(State.stopped)
  private val flights = Module(new Flights(params))
  private val replicas = Module(new Replicas(params))
  private val services = Module(new Services(params))
  private val peers = Module(new Peers(params))
  private val arithmetic = Module(new Arithmetic)
  private val recount = Module(new Recount(params))
  private val monitor = Module(new Monitor)
  private val listener = Module(new Listener(params))
  private val teller = Module(new Teller(params))

  private val event = Reg(new Arrival(params))
  private val hops = Reg(UInt(8.W))
  private val hand = Reg(new Order)
  private val now = RegInit(0.U(Sizes.timeBits.W))
  private val epoch = RegInit(0.U(32.W))
  private val epochEnds = RegInit(0.U((Sizes.timeBits + 1).W))
  private val probeAt = RegInit(0.U((Sizes.timeBits + 1).W))
  private val epochsEnded = RegInit(0.U(3.W))
  private val replica = RegInit(0.U(params.replicaBits.W))
  private val service = RegInit(0.U(params.serviceBits.W))
  private val peer = RegInit(0.U(params.peerBits.W))
  private val waited = Reg(UInt(4.W))

  /** Where it goes on after the peers were told. */
  private val afterwards = RegInit(State.take)

  // Counting: every count is nothing unless a state says otherwise.
  private val counted = Counters.names.map(_ -> WireDefault(0.U(Sizes.countBits.W))).toMap
  private def count(name: String, amount: UInt = 1.U): Unit = counted(name) := amount
  amounts := VecInit(Counters.names.map(counted))

  // Tables: whose turn it is.
  private val deed = WireDefault(ReplicaDeed.none)
  private val serviceDeed = WireDefault(ServiceDeed.none)
  private val peerDeed = WireDefault(PeerDeed.none)
  replicas.entries := tables.replicas
  replicas.index := Mux(recount.busy, recount.index, replica)
  replicas.deed := deed
  replicas.epoch := epoch
  replicas.begun := flights.begun
  replicas.value := Mux(state === State.replicaReciprocal, arithmetic.reciprocal, arithmetic.product)
  replicas.service := service
  services.index := MuxCase(service, Seq(teller.busy -> teller.service, listener.busy -> listener.service))
  services.deed := Mux(listener.learns, ServiceDeed.err, serviceDeed)
  services.value := services.state
  services.value.error := listener.error
  services.value.average := monitor.average
  services.value.told := monitor.told
  when(serviceDeed === ServiceDeed.count) {
    services.value.cores := recount.cores
    services.value.outstanding := recount.outstanding
    services.value.reciprocal := Mux(recount.cores === 0.U, 0.U, recount.usedReciprocal)
    services.value.product := Mux(recount.cores === 0.U, 0.U, arithmetic.product)
  }
  peers.entries := tables.peers
  peers.clear := start
  peers.now := now
  peers.id := told.from
  peers.index := MuxCase(peer, Seq(teller.busy -> teller.peer, listener.busy -> listener.peer))
  peers.service := Mux(listener.busy, listener.service, service)
  peers.deed := Mux(teller.tells, PeerDeed.tell, Mux(listener.busy, listener.peerDeed, peerDeed))
  peers.value := listener.value
  peers.value.truthAt := teller.truthAt
  peers.believed := listener.believed
  when(!listener.busy) {
    val more = peers.view.load +& peers.view.step
    val most = (BigInt(1) << Sizes.wireLoadBits) - 2
    peers.believed := peers.view
    peers.believed.load := Mux(more > most.U, most.U, more)
  }

  flights.clear := start
  flights.look := false.B
  flights.client := event.client
  flights.number := event.number
  flights.epoch := epoch
  flights.note := false.B
  flights.noted := replica
  flights.remove := false.B

  recount.start := false.B
  recount.service := service
  recount.entry := replicas.entry
  recount.state := replicas.state
  recount.calculating := arithmetic.busy
  recount.reciprocal := arithmetic.reciprocal
  monitor.settings := settings
  monitor.start := false.B
  monitor.state := services.state

  listener.start := false.B
  listener.now := now
  listener.peerTimeout := settings.peerTimeout
  listener.told := told
  listener.entries := reportEntries
  listener.services := tables.services
  listener.found := peers.found
  listener.place := peers.place
  listener.alive := peers.alive
  listener.known := peers.state
  listener.view := peers.view
  listener.state := services.state
  listener.calculating := arithmetic.busy
  listener.reciprocal := arithmetic.reciprocal
  count("strangers", listener.stranger)
  count("stale", listener.stale)
  count("heard", listener.heard)

  teller.start := false.B
  teller.audience := Audience.service
  teller.settings := settings
  teller.now := now
  teller.subject := service
  teller.receiver := peer
  teller.request := hand
  teller.event := event
  teller.hops := hops
  teller.clear := start
  teller.entry := peers.entry
  teller.state := peers.state
  teller.alive := peers.alive
  teller.serviceEntries := tables.services
  teller.serviceState := services.state
  teller.writerFree := writerFree
  writerStart := teller.writerStart
  writer := teller.writer
  count("gossip", teller.gossips)
  count("truths", teller.truths)

  // Arithmetic: of who works.
  private val remaining = replicas.state.outstanding - replicas.state.byEpoch(epoch(1, 0))
  private val begins = WireDefault(false.B)
  arithmetic.start := begins || recount.begins || listener.begins
  arithmetic.divides := Mux(recount.busy, recount.divides, listener.busy || state === State.replicaCores)
  arithmetic.left := Mux(recount.busy, recount.left, remaining)
  arithmetic.right := MuxCase(
    replicas.state.reciprocal,
    Seq(
      recount.busy -> recount.right,
      listener.busy -> listener.cores,
      (state === State.replicaCores) -> replicas.entry.cores
    )
  )

  // Orders: the frame in hand goes to a replica, unless a state says otherwise.
  private val sends = WireDefault(false.B)
  private val ordered = WireDefault(hand)
  ordered.target := replicas.entry.place
  ordered.kind := Kind.request.U
  ordered.insert := false.B
  order.valid := sends || teller.order.valid
  order.bits := Mux(teller.busy, teller.order.bits, ordered)
  teller.order.ready := order.ready

  private val taken = arrival.bits
  arrival.ready := false.B
  release := false.B
  private val isTold = event.concern === Concern.redirected || event.concern === Concern.gossip
  nextTimer := {
    val never = Fill(64, 1.U)
    val first = Mux(peers.truth < epochEnds, peers.truth, epochEnds)
    val second = Mux(replicas.anyFailed && probeAt < first, probeAt, first)
    Mux(state === State.stopped, never, second)
  }
  idle := (state === State.stopped || (state === State.take && !arrival.valid)) && !peers.searching

  // Choices.
  private val best = Reg(chiselTypeOf(peers.least))
  private val here = Reg(chiselTypeOf(replicas.least))
  private val local = Reg(UInt(Sizes.wireLoadBits.W))
  private val bound = Reg(UInt(Sizes.wireLoadBits.W))
  private val delta = Mux(settings.adaptive, (services.state.error >> 8).asUInt, settings.loadDelta)

  /** The response in hand ends a request. */
  private val isOurs = RegInit(false.B)
  private val mayLeave = hops < settings.maxRedirects

  /** Counts a service again after which peers are told, or the monitor decides whether they are. */
  private val tellsAll = RegInit(false.B)
  private def countAgain(tells: Boolean, next: State.Type): Unit = {
    recount.start := true.B
    tellsAll := tells.B
    afterwards := next
    state := State.recount
  }

  switch(state) {
    is(State.stopped) {}
    is(State.clear) {
      replica := 0.U
      service := 0.U
      when(!flights.clearing) { state := State.replicaCores }
      waited := 0.U
    }
    is(State.replicaCores) {
      // What is seen of a replica is one cycle old.
      waited := 1.U
      when(waited =/= 0.U) {
        begins := replicas.entry.cores =/= 0.U
        state := State.replicaReciprocal
      }
    }
    is(State.replicaReciprocal) {
      waited := 0.U
      when(!arithmetic.busy) {
        deed := ReplicaDeed.reset
        replica := replica + 1.U
        state := Mux(replica.andR, State.serviceReset, State.replicaCores)
      }
    }
    is(State.serviceReset) {
      serviceDeed := ServiceDeed.reset
      recount.start := true.B
      state := State.serviceCount
    }
    is(State.serviceCount) {
      when(recount.done) {
        serviceDeed := ServiceDeed.count
        val isLast = service === (params.services - 1).U
        service := Mux(isLast, 0.U, service + 1.U)
        state := Mux(isLast, State.take, State.serviceReset)
      }
    }
    is(State.take) {
      val passes = taken.concern === Concern.pass
      val fails = taken.concern === Concern.malformed || taken.concern === Concern.forged
      event := taken
      hops := Mux(taken.concern === Concern.redirected, told.hops, 0.U)
      service := taken.service
      replica := taken.source
      hand.deed := Deed.rewrite
      hand.strip := taken.concern === Concern.redirected
      hand.stripEntries := told.entries
      hand.stripSum := told.sum
      hand.fields := taken.fields
      epochsEnded := 0.U
      isOurs := false.B
      when(arrival.valid) {
        ordered.deed := Mux(passes, Deed.pass, Deed.discard)
        sends := passes || fails
        arrival.ready := !sends || order.ready
        when(arrival.ready) {
          release := taken.told && sends
          count("malformed", taken.concern === Concern.malformed)
          count("forged", taken.concern === Concern.forged)
          when(!sends) {
            now := Mux(taken.time > now, taken.time, now)
            state := State.settle
          }
        }
      }
    }
    is(State.settle) {
      service := event.service
      replica := event.source
      state := Mux(now >= epochEnds, State.endEpoch, State.route)
    }
    is(State.endEpoch) {
      epoch := epoch + 1.U
      epochEnds := epochEnds + settings.epoch
      replica := 0.U
      state := State.settle
      when(epochsEnded =/= Sizes.epochs.U) {
        epochsEnded := epochsEnded + 1.U
        state := State.replicaLook
      }
    }
    is(State.replicaLook) { state := State.replicaMultiply }
    is(State.replicaMultiply) {
      // Only a replica that loses requests gets another product; the others get the same again.
      begins := true.B
      service := replicas.entry.service
      state := Mux(replicas.entry.present, State.replicaForget, State.nextReplica)
    }
    is(State.replicaForget) {
      val current = replicas.state
      val left = current.byEpoch(epoch(1, 0))
      val waits = Seq(2, 3).map(back => current.byEpoch(epoch(1, 0) - back.U) =/= 0.U).reduce(_ || _)
      val silent = !current.failed && waits && (epoch - current.heard) >= 2.U
      when(!arithmetic.busy) {
        deed := ReplicaDeed.forget
        count("expired", left)
        state := State.nextReplica
        when(silent) { state := State.replicaFail }
          .elsewhen(!current.failed && left =/= 0.U) { countAgain(tells = false, State.nextReplica) }
      }
    }
    is(State.replicaFail) {
      deed := ReplicaDeed.fail
      count("failures")
      probeAt := now
      countAgain(tells = true, State.nextReplica)
    }
    is(State.nextReplica) {
      replica := replica + 1.U
      state := Mux(replica.andR, State.settle, State.replicaLook)
    }
    is(State.route) {
      val isUnknown = event.concern === Concern.request && !event.serviceKnown
      waited := 0.U
      flights.look := true.B
      listener.start := isTold
      teller.start := event.concern === Concern.tick
      teller.audience := Audience.truth
      afterwards := State.probes
      count("requests", event.concern === Concern.request)
      count("taken_over", event.concern === Concern.redirected)
      count("unknown_service", isUnknown)
      state := MuxLookup(event.concern, State.find)(
        Seq(
          Concern.tick -> State.tell,
          Concern.gossip -> State.hear,
          Concern.redirected -> State.hear,
          Concern.alive -> State.alive,
          Concern.request -> Mux(isUnknown, State.drop, State.find)
        )
      )
    }
    is(State.hear) {
      when(listener.done) {
        release := true.B
        val isUnknown = event.concern === Concern.redirected && !event.serviceKnown
        count("unknown_service", isUnknown)
        state := Mux(event.concern === Concern.gossip || isUnknown, State.drop, State.lookAgain)
      }
    }
    is(State.find) {
      waited := waited + 1.U
      // Tournaments run since the service was set, before the look.
      val cycles = (Flights.lookCycles - 1).max(params.tournamentCycles - 1)
      when(waited === (cycles - 1).U) { state := State.found }
    }
    is(State.found) {
      here := replicas.least
      best := peers.least
      local := Services.told(services.state)
      val sum = peers.least.cost +& delta
      val most = (BigInt(1) << Sizes.wireLoadBits) - 2
      bound := Mux(sum > most.U, most.U, sum)
      replica := flights.replica
      state := Mux(flights.known, State.knownLook, State.choose)
      when(event.concern === Concern.response && !flights.known) {
        count("strays")
        state := State.answered
      }
    }
    is(State.knownLook) { state := State.known }
    is(State.known) {
      when(event.concern === Concern.response) {
        flights.remove := true.B
        count("answered")
        isOurs := true.B
        deed := ReplicaDeed.end
        service := replicas.entry.service
        state := State.answered
      }.elsewhen(replicas.state.failed) {
        // Its replica is gone: it is a request like any other again.
        flights.remove := true.B
        deed := ReplicaDeed.giveUp
        count("expired")
        state := State.lookAgain
      }.otherwise {
        ordered.deed := Deed.rewrite
        sends := true.B
        when(order.ready) {
          count("repeated")
          state := State.take
        }
      }
    }
    is(State.lookAgain) {
      // A place was given up, or what is believed has changed, and tournaments begin anew.
      flights.look := true.B
      waited := 0.U
      state := State.find
    }
    is(State.choose) {
      val exceeds = local > bound
      val goes = mayLeave && best.present
      val idleHere = here.present && here.cost <= Services.one.U
      val believes = !best.cost.andR
      count("loops_stopped", here.present && !idleHere && !settings.rackLocal && best.present && !mayLeave && exceeds)
      replica := here.index
      peer := best.index
      state := State.drop
      when(here.present && (idleHere || settings.rackLocal || !(goes && exceeds))) {
        state := State.serve
      }.elsewhen(goes && (here.present || settings.rackLocal || believes)) {
        state := State.elsewhere
      }.otherwise { count("no_replica") }
    }
    is(State.serve) {
      count("served")
      flights.note := flights.room
      count("untracked", !flights.room)
      when(flights.room) {
        deed := ReplicaDeed.begin
        serviceDeed := ServiceDeed.begin
      }
      waited := flights.room
      state := State.serveOrder
    }
    is(State.serveOrder) {
      sends := true.B
      afterwards := State.take
      when(order.ready) { state := Mux(waited === 0.U, State.take, State.changed) }
    }
    is(State.elsewhere) { state := State.redirect }
    is(State.redirect) {
      count("redirected")
      peerDeed := PeerDeed.believe
      teller.start := true.B
      teller.audience := Audience.request
      afterwards := State.take
      state := State.tell
    }
    is(State.answered) {
      // What is seen of the replica is one cycle old: as it was before.
      ordered.deed := Deed.pass
      sends := true.B
      afterwards := State.take
      when(order.ready) {
        state := State.take
        when(isOurs && replicas.state.failed) { state := State.revive }
        when(isOurs && !replicas.state.failed) {
          serviceDeed := ServiceDeed.end
          state := State.counted
        }
      }
    }
    is(State.alive) {
      deed := ReplicaDeed.hear
      afterwards := State.drop
      state := State.aliveJudge
    }
    is(State.aliveJudge) { state := Mux(replicas.state.failed, State.revive, State.drop) }
    is(State.revive) {
      deed := ReplicaDeed.revive
      service := replicas.entry.service
      state := State.revived
    }
    is(State.revived) { countAgain(tells = true, afterwards) }
    is(State.recount) {
      when(recount.done) {
        serviceDeed := ServiceDeed.count
        teller.start := tellsAll
        state := Mux(tellsAll, State.tell, State.counted)
      }
    }
    is(State.counted) { state := State.changed }
    is(State.changed) {
      // What is seen of the service is as it has become.
      monitor.start := true.B
      state := State.watch
    }
    is(State.watch) {
      when(monitor.done) {
        val crosses = monitor.doubled || monitor.halved
        serviceDeed := ServiceDeed.monitor
        count("doubled", monitor.doubled && settings.gossip)
        count("halved", monitor.halved && settings.gossip)
        teller.start := settings.always || (settings.gossip && crosses)
        state := Mux(teller.start, State.tell, afterwards)
      }
    }
    is(State.tell) { when(teller.done) { state := afterwards } }
    is(State.probes) {
      replica := 0.U
      state := State.take
      when(probeAt <= now) {
        probeAt := now +& settings.probeInterval
        state := State.probeLook
      }
    }
    is(State.probeLook) { state := State.probe }
    is(State.probe) {
      ordered.deed := Deed.own
      ordered.kind := Kind.probe.U
      ordered.strip := false.B
      ordered.fields := Sums.ownFields
      sends := replicas.entry.present && replicas.state.failed
      when(!sends || order.ready) {
        count("probes", sends)
        replica := replica + 1.U
        state := Mux(replica.andR, State.take, State.probeLook)
      }
    }
    is(State.drop) {
      ordered.deed := Deed.discard
      sends := event.concern =/= Concern.tick
      when(!sends || order.ready) { state := State.take }
    }
  }
  when(start) {
    now := 0.U
    epoch := 0.U
    epochEnds := settings.epoch
    probeAt := settings.probeInterval
    state := State.clear
  }
}
