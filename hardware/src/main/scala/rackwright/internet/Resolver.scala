package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** Finds the next station of each datagram: by mask and gateway the IP address (RFC 1122, 3.3.1), by the ARP cache its
  * Ethernet address. Datagrams for a station that has to be resolved wait elsewhere; the others continue.
  */
class Resolver(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new DatagramTarget))))
  val settings = IO(Input(new Settings(params)))
  val learnt = IO(Flipped(Valid(new ArpPair)))
  val flush = IO(Input(Bool()))
  val out = IO(Decoupled(new Piece(new Routed)))
  val query = IO(Decoupled(UInt(32.W)))

  /** A datagram was sent, or why not. */
  val sent = IO(Output(Bool()))
  val noRoute = IO(Output(Bool()))
  val noRoom = IO(Output(Bool()))
  val unresolved = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val start, routed, searched, found, pass, park, drop = Value
  }
  import State._
  private val state = RegInit(start)

  private val cache = Module(new ArpCache(params.arpEntries))
  cache.learnt := learnt
  cache.flush := flush
  private val waiting = Module(new WaitingRoom(params))
  waiting.settings := settings
  waiting.learnt := learnt
  waiting.go := state === start
  query <> waiting.query

  private val queued = SkidBuffer(in)
  private val destination = queued.bits.about.destination
  private val first = destination(31, 24)
  private val isMulticast = destination(31, 28) === 14.U
  private val isBroadcast = destination.andR || destination === settings.broadcast
  private val isNear = ((destination ^ settings.address) & settings.mask) === 0.U

  // Results of comparisons are used in the next cycles.
  private val hop = Reg(UInt(32.W))
  private val (multicast, broadcast) = (Reg(Bool()), Reg(Bool()))
  private val unreachable = Reg(Bool())
  private val mac = Reg(UInt(48.W))
  cache.find.valid := state === routed
  cache.find.bits := hop
  waiting.address := hop

  private val known = multicast || broadcast
  private val last = queued.bits.flit.last
  switch(state) {
    is(start) {
      hop := Mux(isNear, destination, settings.gateway)
      multicast := isMulticast
      broadcast := isBroadcast
      unreachable := first === 0.U || first === 127.U || (first >= 240.U && !destination.andR) ||
        settings.isOwn(destination) || settings.address === 0.U
      // Waiting datagrams have priority, so that none is overtaken.
      when(queued.valid && !waiting.busy) { state := routed }
    }
    is(routed) { state := Mux(unreachable || (hop === 0.U && !known), drop, searched) }
    is(searched) { state := found }
    is(found) {
      mac := Mux(
        broadcast,
        Fill(48, 1.U),
        Mux(multicast, Settings.station(destination), cache.found.bits.mac)
      )
      state := Mux(known || cache.found.bits.hit, pass, Mux(waiting.room, park, drop))
    }
    is(pass, park, drop) { when(queued.fire && last) { state := start } }
  }

  waiting.in.valid := state === park && queued.valid
  waiting.in.bits := queued.bits
  private val passing = Wire(Decoupled(new Piece(new Routed)))
  private val own = state === pass
  passing.valid := Mux(own, queued.valid, state === start && waiting.out.valid)
  passing.bits := waiting.out.bits
  when(own) {
    passing.bits.flit := queued.bits.flit
    passing.bits.about.datagram := queued.bits.about
    passing.bits.about.mac := mac
  }
  waiting.out.ready := state === start && passing.ready
  queued.ready := Mux(own, passing.ready, state === park || state === drop)
  out <> SkidBuffer(passing)

  private val ends = queued.fire && last
  sent := passing.fire && passing.bits.flit.last
  // Why it is dropped is known when that is decided.
  private val routeless = Reg(Bool())
  when(state === routed) { routeless := true.B }
  when(state === found) { routeless := false.B }
  noRoute := state === drop && ends && routeless
  noRoom := (state === drop && ends && !routeless) || (state === park && ends && waiting.replaces)
  unresolved := waiting.unresolved
  idle := !queued.valid && state === start && cache.idle && waiting.idle && !out.valid
}
