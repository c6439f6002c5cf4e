package rackwright.internet

import chisel3._
import chisel3.util._

/** Puts whole datagrams from fragments between packets that are none, which never wait: while a datagram leaves, they
  * are buffered, and leave after it in their order. Without room they are dropped.
  */
class Rejoin(params: Params) extends Module {
  val packets = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val assembled = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val out = IO(Decoupled(new Piece(new PacketInfo)))
  val ended = IO(Valid(UInt(Cause.width.W)))
  val idle = IO(Output(Bool()))

  import Rejoin.Mode._
  private val mode = RegInit(direct)
  private val buffer = Module(new FrameBuffer(new PacketInfo, params.bufferFlits, Rejoin.packets, waits = false))
  private val between = RegInit(true.B)
  when(packets.fire) { between := packets.bits.flit.last }

  // Modes change between packets, which are stopped for that cycle.
  private val stops = between && Mux(mode === direct, assembled.valid, mode === drains && buffer.idle)
  private val isAside = mode =/= direct
  packets.ready := !stops && (isAside || out.ready)
  buffer.in.valid := packets.valid && isAside && !stops
  buffer.in.bits := packets.bits
  buffer.lose := false.B
  ended.valid := buffer.in.fire && packets.bits.flit.last && buffer.full
  ended.bits := Cause.first(packets.bits.about.cause, true.B -> "dropped_full")

  out.valid := Mux(
    mode === direct,
    packets.valid && !stops,
    Mux(mode === inserts, assembled.valid, buffer.out.valid)
  )
  out.bits := Mux(mode === direct, packets.bits, Mux(mode === inserts, assembled.bits, buffer.out.bits))
  assembled.ready := mode === inserts && out.ready
  buffer.out.ready := mode === drains && out.ready
  switch(mode) {
    is(direct) { when(stops) { mode := inserts } }
    is(inserts) { when(assembled.fire && assembled.bits.flit.last) { mode := drains } }
    is(drains) { when(stops) { mode := direct } }
  }
  idle := mode === direct && !assembled.valid
}

/** Constants. */
object Rejoin {

  /** Packets that are buffered at most. */
  val packets: Int = 32

  /** What leaves: packets as they arrive, a datagram from fragments, or packets that were buffered meanwhile. */
  private[internet] object Mode extends ChiselEnum {
    val direct, inserts, drains = Value
  }
}
