package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Accepts arrivals, one after the other, and makes the decisions of the policy crate
  * (`engine/crates/network/dispatch/src/dispatcher.rs`, `decide.rs`).
  *
  * Requests and responses are accepted while the announcer is still busy with the arrival before, but produce no orders
  * or counts until it is idle. Any other arrival waits until every module is idle.
  */
class Decider(params: Params) extends Module with Counts {
  val settings = IO(Input(new Settings))

  /** The initial counts of all services are complete. */
  val running = IO(Input(Bool()))
  val looked = IO(Flipped(Decoupled(new LookedUp(params))))
  val told = IO(Input(new Told))

  /** The report of the arrival is no longer needed. */
  val release = IO(Output(Bool()))

  /** Ready only while no other module issues orders. */
  val order = IO(Decoupled(new Order))
  val change = IO(Output(Valid(new FlightChange(params))))
  val epoch = IO(Input(UInt(32.W)))
  val now = IO(Output(UInt(Sizes.timeBits.W)))
  val idle = IO(Output(Bool()))

  // Tables: the index that is read, and the entry as of the cycle before.
  val replica = IO(Output(new ReplicaTurn(params)))
  val begun = IO(Output(UInt(log2Ceil(Sizes.epochs).W)))
  val replicaEntry = IO(Input(new ReplicaEntry(params)))
  val replicaState = IO(Input(new ReplicaState))
  val leastReplica = IO(Input(new Contender(Sizes.loadBits, params.replicaBits)))
  val service = IO(Output(UInt(params.serviceBits.W)))
  val serviceAction = IO(Output(ServiceAction()))
  val serviceState = IO(Input(new ServiceState))
  val peer = IO(Output(UInt(params.peerBits.W)))
  val believes = IO(Output(Bool()))
  val leastPeer = IO(Input(new Contender(Sizes.wireLoadBits, params.peerBits)))

  /** The announcer is idle; the request to announce. */
  val announcerFree = IO(Input(Bool()))
  val telling = IO(Input(Bool()))

  /** Every other module is idle. */
  val quiet = IO(Input(Bool()))
  val announces = IO(Output(Valid(new Announcement(params))))
  val endsEpochs = IO(Output(Bool()))
  val listens = IO(Output(Bool()))
  val recounts = IO(Output(Bool()))
  val probes = IO(Output(Bool()))

  // The load that accompanies a redirected request.
  val event = IO(Output(new Arrival(params)))
  val request = IO(Output(new Order))
  val hops = IO(Output(UInt(8.W)))

  private object State extends ChiselEnum {
    val take, rest, heard, known, judgeKnown, answered, search, found, choose, serve, redirect, drop, alive, judgeAlive,
        revive, revived, tick, probe = Value
  }
  private val state = RegInit(State.take)

  /** The state to enter when the other modules are idle. */
  private val afterwards = RegInit(State.take)
  private val held = Reg(new Arrival(params))
  private val place = Reg(new FlightPlace(params))
  private val hand = Reg(new Order)
  private val hopsSoFar = Reg(UInt(8.W))
  private val time = RegInit(0.U(Sizes.timeBits.W))
  private val replicaAt = RegInit(0.U(params.replicaBits.W))
  private val serviceAt = RegInit(0.U(params.serviceBits.W))
  private val peerAt = RegInit(0.U(params.peerBits.W))
  private val waited = Reg(UInt(4.W))

  private val arrival = looked.bits.arrival
  private val concern = arrival.concern
  private val isForwarded = concern === Concern.pass
  private val isRefused = concern === Concern.malformed || concern === Concern.forged
  private val ends = isForwarded || isRefused
  private val isFast = (concern === Concern.request || concern === Concern.response) && !looked.bits.isLate
  private val takes = state === State.take && running && looked.valid && (quiet || isFast)

  idle := state === State.take
  looked.ready := false.B
  release := false.B
  now := time
  event := held
  request := hand
  hops := hopsSoFar
  replica.index := replicaAt
  replica.action := ReplicaAction.none
  begun := place.begun
  service := serviceAt
  serviceAction := ServiceAction.none
  peer := peerAt
  believes := false.B
  endsEpochs := false.B
  listens := false.B
  recounts := false.B
  probes := false.B

  announces.valid := false.B
  announces.bits.judges := true.B
  announces.bits.audience := Audience.request
  announces.bits.service := serviceAt
  announces.bits.now := time

  // By default the current frame is sent to a replica.
  order.valid := false.B
  order.bits := hand
  order.bits.target := replicaEntry.place
  order.bits.kind := Kind.request.U
  order.bits.insert := false.B
  order.bits.insertEntries := 0.U

  change.valid := false.B
  change.bits.row := place.row
  change.bits.ways := place.hits
  change.bits.flight.taken := false.B
  change.bits.flight.epoch := epoch
  change.bits.flight.replica := replicaAt
  change.bits.flight.client := held.client
  change.bits.flight.number := held.number

  // Selection.
  private val best = Reg(chiselTypeOf(leastPeer))
  private val here = Reg(chiselTypeOf(leastReplica))
  private val local = Reg(UInt(Sizes.wireLoadBits.W))
  private val bound = Reg(UInt(Sizes.wireLoadBits.W))
  private val delta = Mux(settings.adaptive, (serviceState.error >> 8).asUInt, settings.loadDelta)
  private val mayLeave = RegNext(hopsSoFar < settings.maxRedirects)
  private val hasRoom = RegNext(place.frees.orR)

  private def restThen(next: State.Type): Unit = {
    state := State.rest
    afterwards := next
  }

  /** The flight of a request is looked up first. A response completes its flight, or is a stray. */
  private def lookOrSearch(isKnown: Bool, isResponse: Bool): State.Type =
    Mux(isKnown, State.known, Mux(isResponse, State.answered, State.search))

  switch(state) {
    is(State.take) {
      waited := 0.U
      held := arrival
      place := looked.bits.place
      serviceAt := arrival.service
      replicaAt := Mux(concern === Concern.alive, arrival.source, looked.bits.place.replica)
      hopsSoFar := Mux(concern === Concern.redirected, told.hops, 0.U)
      hand.action := Action.rewrite
      hand.strip := concern === Concern.redirected
      hand.stripEntries := told.entries
      hand.stripSum := told.sum
      hand.fields := arrival.fields
      order.bits.action := Mux(isForwarded, Action.pass, Action.discard)
      order.valid := takes && ends
      looked.ready := takes && Mux(ends, order.ready, !looked.bits.isLate)
      when(takes && !ends) {
        time := Mux(arrival.time > time, arrival.time, time)
        when(looked.bits.isLate) {
          endsEpochs := true.B
          restThen(State.take)
        }.otherwise {
          val isUnknown = concern === Concern.request && !arrival.serviceKnown
          val isKnown = looked.bits.place.hits.orR
          count("requests", concern === Concern.request)
          count("taken_over", concern === Concern.redirected)
          count("unknown_service", isUnknown)
          state := lookOrSearch(isKnown, concern === Concern.response)
          when(isUnknown) { state := State.drop }
          when(concern === Concern.tick) { state := State.tick }
          when(concern === Concern.alive) { state := State.alive }
          when(concern === Concern.redirected || concern === Concern.gossip) {
            listens := true.B
            restThen(State.heard)
          }
        }
      }
      when(looked.fire && ends) {
        release := arrival.told
        count("malformed", concern === Concern.malformed)
        count("forged", concern === Concern.forged)
      }
    }
    is(State.rest) { when(quiet) { state := afterwards } }
    is(State.heard) {
      release := true.B
      val isUnknown = held.concern === Concern.redirected && !held.serviceKnown
      count("unknown_service", isUnknown)
      state := lookOrSearch(place.hits.orR, false.B)
      when(held.concern === Concern.gossip || isUnknown) { state := State.drop }
    }
    is(State.known) { state := State.judgeKnown }
    is(State.judgeKnown) {
      // The entry of its replica is valid now.
      waited := 0.U
      when(held.concern === Concern.response) {
        serviceAt := replicaEntry.service
        state := State.answered
      }.elsewhen(replicaState.failed) {
        // Its replica has been removed: it is handled like a new request.
        change.valid := true.B
        place.frees := place.frees | place.hits
        replica.action := ReplicaAction.giveUp
        count("expired")
        state := State.search
      }.otherwise {
        order.valid := true.B
        when(order.ready) {
          count("repeated")
          state := State.take
        }
      }
    }
    is(State.answered) {
      val isOurs = place.hits.orR
      order.bits.action := Action.pass
      order.valid := true.B
      afterwards := State.take
      when(order.ready) {
        state := State.take
        count("answered", isOurs)
        count("strays", !isOurs)
        when(isOurs) {
          change.valid := true.B
          replica.action := ReplicaAction.end
          when(replicaState.failed) { state := State.revive }.otherwise {
            serviceAction := ServiceAction.end
            announces.valid := true.B
          }
        }
      }
    }
    is(State.search) {
      // The state of the peers was requested for a different time while peers were being addressed.
      val isOver = waited === (params.tournamentCycles - 1).U
      waited := Mux(telling, 0.U, waited + !isOver)
      when(isOver && announcerFree) { state := State.found }
    }
    is(State.found) {
      here := leastReplica
      best := leastPeer
      replicaAt := leastReplica.index
      peerAt := leastPeer.index
      local := Services.told(serviceState)
      val sum = leastPeer.cost +& delta
      val most = (BigInt(1) << Sizes.wireLoadBits) - 2
      bound := Mux(sum > most.U, most.U, sum)
      state := State.choose
    }
    is(State.choose) {
      val exceeds = local > bound
      val goes = mayLeave && best.present
      val isIdle = here.present && here.cost <= Services.one.U
      val isAvailable = !best.cost.andR
      count("loops_stopped", here.present && !isIdle && !settings.rackLocal && best.present && !mayLeave && exceeds)
      state := State.drop
      when(here.present && (isIdle || settings.rackLocal || !(goes && exceeds))) {
        state := State.serve
      }.elsewhen(goes && (here.present || settings.rackLocal || isAvailable)) {
        state := State.redirect
      }.otherwise { count("no_replica") }
    }
    is(State.serve) {
      order.valid := true.B
      change.bits.ways := PriorityEncoderOH(place.frees)
      change.bits.flight.taken := true.B
      when(order.ready) {
        count("served")
        count("untracked", !hasRoom)
        state := State.take
        when(hasRoom) {
          change.valid := true.B
          replica.action := ReplicaAction.begin
          serviceAction := ServiceAction.begin
          announces.valid := true.B
        }
      }
    }
    is(State.redirect) {
      count("redirected")
      believes := true.B
      announces.valid := true.B
      announces.bits.judges := false.B
      restThen(State.take)
    }
    is(State.alive) {
      replica.action := ReplicaAction.hear
      afterwards := State.drop
      state := State.judgeAlive
    }
    is(State.judgeAlive) { state := Mux(replicaState.failed, State.revive, State.drop) }
    is(State.revive) {
      replica.action := ReplicaAction.revive
      serviceAt := replicaEntry.service
      state := State.revived
    }
    is(State.revived) {
      recounts := true.B
      state := State.rest
    }
    is(State.tick) {
      announces.valid := true.B
      announces.bits.judges := false.B
      announces.bits.audience := Audience.truth
      restThen(State.probe)
    }
    is(State.probe) {
      probes := true.B
      restThen(State.take)
    }
    is(State.drop) {
      order.bits.action := Action.discard
      order.valid := true.B
      when(order.ready) { state := State.take }
    }
  }
  when(!running) { time := 0.U }
}
