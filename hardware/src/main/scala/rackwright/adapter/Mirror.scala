package rackwright.adapter

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** A station at the other end of a wire that has all addresses except that of this end: it responds to ARP requests
  * (RFC 826), and returns IPv4 packets with the addresses and ports of both ends exchanged. No checksum changes by
  * that. Headers have no options, frames no tag.
  */
class Mirror extends Module {
  val in = IO(Flipped(Decoupled(new StreamFlit(8))))
  val out = IO(Decoupled(new StreamFlit(8)))
  val idle = IO(Output(Bool()))

  // The oldest flit, and the two after it, from which its bytes may come.
  private val window = RegInit(VecInit.fill(3)(0.U.asTypeOf(Valid(new StreamFlit(8)))))
  private val oldest = window(0).bits
  private def ends(i: Int): Bool = window(i).valid && window(i).bits.last
  private val known = window(0).valid && (oldest.last || window(1).valid && (ends(1) || window(2).valid))
  out.valid := known
  private val taken = out.fire
  private val free = PriorityEncoder(window.map(!_.valid) :+ true.B)
  in.ready := free =/= 3.U || taken
  when(taken) {
    window(0) := window(1)
    window(1) := window(2)
    window(2).valid := false.B
  }
  when(in.fire) {
    val place = Mux(taken, free - 1.U, free)(1, 0)
    window(place).valid := true.B
    window(place).bits := in.bits
  }
  idle := !window.map(_.valid).reduce(_ || _) && !in.valid

  // Bytes of the frame from the oldest flit on.
  private val bytes = window.flatMap(flit => flit.bits.data.asTypeOf(Vec(8, UInt(8.W))))
  private val at = RegInit(0.U(3.W))
  private val (station, sender, senderEnd) = (Reg(Vec(6, UInt(8.W))), Reg(Vec(4, UInt(8.W))), Reg(Vec(2, UInt(8.W))))
  private val isArp, isIp = Reg(Bool())

  /** Its own Ethernet address, derived from that of the sender. */
  private def own(of: Seq[UInt]): Seq[UInt] = of.init :+ (of.last ^ 1.U)
  private val changed = WireDefault(VecInit(bytes.take(8)))
  private def put(from: Int, values: Seq[UInt]): Unit = values.zipWithIndex.foreach { case (value, i) =>
    changed(from + i) := value
  }
  switch(at) {
    is(0.U) {
      val sends = bytes.slice(6, 12)
      put(0, sends ++ own(sends).take(2))
    }
    is(1.U) { put(0, own(station).drop(2)) }
    is(2.U) { when(isArp) { put(4, Seq(0.U, 2.U) ++ own(station).take(2)) } }
    is(3.U) {
      when(isArp) { put(0, own(station).drop(2) ++ bytes.slice(14, 18)) }
      when(isIp) { put(2, bytes.slice(6, 10) ++ bytes.slice(2, 4)) }
    }
    is(4.U) {
      when(isArp) { put(0, station ++ sender.take(2)) }
      when(isIp) { put(0, senderEnd ++ bytes.slice(4, 6) ++ bytes.slice(2, 4)) }
    }
    is(5.U) { when(isArp) { put(0, sender.drop(2)) } }
  }
  out.bits := oldest
  out.bits.data := changed.asUInt
  when(taken) {
    at := Mux(oldest.last, 0.U, Mux(at === 6.U, 6.U, at + 1.U))
    when(at === 0.U) { station := VecInit(bytes.slice(6, 12)) }
    when(at === 1.U) {
      isArp := bytes(4) === 0x08.U && bytes(5) === 0x06.U
      isIp := bytes(4) === 0x08.U && bytes(5) === 0.U
    }
    when(at === 3.U) {
      sender := VecInit(bytes.slice(4, 8))
      senderEnd := VecInit(bytes.slice(4, 6))
    }
  }
}
