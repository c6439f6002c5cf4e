package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit
import rackwright.stream.SkidBuffer

/** Selects packets with credits among the three classes of outgoing packets, in turn.
  *
  * A class without credits does not block the others, as the ordering rules require (2.4.1). Selected packets leave in
  * this order. A packet is not interrupted.
  */
class Transmitter extends Module {

  /** By class. */
  val packets = IO(Vec(Credits.classes, Flipped(Decoupled(new PacketBeat))))
  val out = IO(Decoupled(new StreamFlit(Params.beatBytes)))

  /** The four bytes of a packet about credits that has arrived. */
  val credits = IO(Flipped(Valid(UInt(32.W))))

  /** A packet waits for credits. */
  val starved = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val update = CreditUpdate.ofBytes(credits.bits)
  private val gates = packets.zipWithIndex.map { case (packet, of) =>
    val gate = Module(new CreditGate)
    gate.update.valid := credits.valid && update.of === of.U
    gate.update.bits := update
    gate.cost := packet.bits.credits
    gate
  }
  private val ready = VecInit(packets.zip(gates).map { case (packet, gate) => packet.valid && gate.open })
  private val within = RegInit(false.B)
  private val chosen = RegInit(0.U(log2Ceil(Credits.classes).W))
  private val next = MuxCase(
    chosen,
    (1 to Credits.classes).map { ahead =>
      val of = Mux(chosen +& ahead.U >= Credits.classes.U, chosen +& ahead.U - Credits.classes.U, chosen +& ahead.U)
      ready(of(1, 0)) -> of(1, 0)
    }
  )
  private val now = Mux(within, chosen, next)

  private val buffer = Module(new SkidBuffer(new PacketBeat))
  buffer.clear := false.B
  buffer.in.valid := Mux(within, packets(chosen).valid, ready.asUInt.orR)
  buffer.in.bits := packets(now).bits
  packets.zipWithIndex.foreach { case (packet, of) =>
    packet.ready := buffer.in.ready && now === of.U && (within || ready(of))
    gates(of).take := packet.fire && !within
  }
  when(buffer.in.fire) {
    chosen := now
    within := !buffer.in.bits.last
  }
  out.valid := buffer.out.valid
  out.bits := buffer.out.bits.onWire
  buffer.out.ready := out.ready
  starved := !within && packets.zip(gates).map { case (packet, gate) => packet.valid && !gate.open }.reduce(_ || _)
  idle := !within && !buffer.out.valid && !ready.asUInt.orR
}
