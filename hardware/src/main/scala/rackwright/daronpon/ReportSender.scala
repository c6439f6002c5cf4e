package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The receivers of a report. */
object Audience extends ChiselEnum {

  /** The peers that are alive and have the service; those that are due a full report; the peer that receives the
    * current request.
    */
  val service, truth, request = Value
}

/** Reports the loads of this rack: writes reports and orders them sent (`engine/crates/network/dispatch/src/tell.rs`).
  * Takes two cycles for each entry of a report, and some ten more; stalls while the report before is being sealed or
  * sent.
  */
class ReportSender(params: Params) extends Module {
  val start = IO(Input(Bool()))
  val audience = IO(Input(Audience()))
  val settings = IO(Input(new Settings))
  val now = IO(Input(UInt(Sizes.timeBits.W)))

  /** For `service`: which one. For `request`: the receiver, and how the request is ordered. */
  val subject = IO(Input(UInt(params.serviceBits.W)))
  val receiver = IO(Input(UInt(params.peerBits.W)))
  val request = IO(Input(new Order))
  val event = IO(Input(new Arrival(params)))
  val hops = IO(Input(UInt(8.W)))

  /** Restarts the numbering of messages. */
  val clear = IO(Input(Bool()))
  val busy = IO(Output(Bool()))
  val done = IO(Output(Bool()))

  val peer = IO(Output(UInt(params.peerBits.W)))
  val entry = IO(Input(new PeerEntry(params)))
  val state = IO(Input(new PeerState))
  val alive = IO(Input(Vec(params.peers, Bool())))
  val tells = IO(Output(Bool()))
  val truthAt = IO(Output(UInt((Sizes.timeBits + 1).W)))

  val service = IO(Output(UInt(params.serviceBits.W)))
  val serviceEntries = IO(Input(Vec(params.services, new ServiceEntry)))
  val serviceState = IO(Input(new ServiceState))

  val writerStart = IO(Output(Bool()))
  val writerFree = IO(Input(Bool()))
  val writer = IO(Output(Valid(new HashedWord)))
  val order = IO(Decoupled(new Order))
  val gossips = IO(Output(Bool()))
  val truths = IO(Output(Bool()))

  private object Phase extends ChiselEnum {
    val idle, look, judge, header, number, origin, life, line, load, half, send = Value
  }
  private val phase = RegInit(Phase.idle)
  private val whom = Reg(Audience())
  private val at = Reg(UInt(params.peerBits.W))
  private val sequence = RegInit(0.U(32.W))
  private val mask = Reg(UInt(params.services.W))
  private val count = Reg(UInt(5.W))
  private val lower = Reg(UInt(32.W))
  private val which = Reg(UInt(params.serviceBits.W))

  private val isRequest = whom === Audience.request
  private val hasLoads = !isRequest || settings.piggyback
  private val used = entry.services.orR
  private val wanted = MuxLookup(whom, true.B)(
    Seq(
      Audience.service -> (alive(at) && entry.services(subject)),
      Audience.truth -> (used && state.truthAt <= now)
    )
  )
  private def big(number: UInt): UInt = BigEndian.swap(number)
  private def write(data: UInt, last: Bool = false.B): Unit = {
    writer.valid := true.B
    writer.bits.data := data
    writer.bits.last := last
  }

  busy := phase =/= Phase.idle
  done := false.B
  peer := at
  service := which
  tells := false.B
  truthAt := now +& settings.truthInterval
  writerStart := false.B
  writer.valid := false.B
  writer.bits := DontCare
  order.valid := false.B
  gossips := false.B
  truths := false.B

  order.bits := request
  order.bits.kind := Mux(isRequest, Kind.redirected.U, Kind.gossip.U)
  order.bits.target := entry.place
  order.bits.insert := true.B
  order.bits.insertEntries := count
  when(!isRequest) {
    order.bits.action := Action.own
    order.bits.strip := false.B
    order.bits.fields := Sums.ownFields
  }

  private def nextPeer(): Unit = {
    at := at + 1.U
    phase := Phase.look
    when(isRequest || at.andR) {
      phase := Phase.idle
      done := true.B
    }
  }
  switch(phase) {
    is(Phase.idle) {
      when(start) {
        whom := audience
        at := Mux(audience === Audience.request, receiver, 0.U)
        phase := Phase.look
      }
    }
    is(Phase.look) { phase := Phase.judge }
    is(Phase.judge) {
      when(!wanted) { nextPeer() }.elsewhen(writerFree) {
        writerStart := true.B
        gossips := whom === Audience.service
        truths := whom === Audience.truth
        tells := hasLoads
        sequence := sequence + 1.U
        mask := Mux(hasLoads, entry.services, 0.U)
        count := Mux(hasLoads, PopCount(entry.services), 0.U)
        phase := Phase.header
      }
    }
    is(Phase.header) {
      val kind = Mux(isRequest, Kind.redirected.U(8.W), Kind.gossip.U(8.W))
      val rest = Mux(isRequest, Cat(big(event.argument), big(event.serviceNumber)), 0.U)
      write(Cat(rest, kind, 1.U(8.W), big("h5244".U(16.W))))
      phase := Phase.number
    }
    is(Phase.number) {
      write(Mux(isRequest, big(event.number), 0.U))
      phase := Mux(isRequest, Phase.origin, Phase.life)
    }
    is(Phase.origin) {
      write(Cat(0.U(8.W), hops + 1.U, big(event.client)))
      phase := Phase.life
    }
    is(Phase.life) {
      write(Cat(big(sequence), big(settings.incarnation)))
      lower := Cat(big(count.pad(16)), big(settings.own))
      which := PriorityEncoder(mask)
      phase := Mux(mask.orR, Phase.line, Phase.half)
    }
    is(Phase.line) { phase := Phase.load }
    is(Phase.load) {
      val left = mask & (mask - 1.U)
      write(Cat(big(Services.toldCores(serviceState)), big(serviceEntries(which).number), lower))
      lower := big(Services.told(serviceState))
      mask := left
      which := PriorityEncoder(left)
      phase := Mux(left.orR, Phase.line, Phase.half)
    }
    is(Phase.half) {
      write(lower.pad(64), true.B)
      phase := Phase.send
    }
    is(Phase.send) {
      order.valid := true.B
      when(order.ready) { nextPeer() }
    }
  }
  when(clear) { sequence := 0.U }
}
