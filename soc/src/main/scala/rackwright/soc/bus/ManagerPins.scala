package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.amba.axi4.{AXI4Bundle, AXI4BundleA}

/** Connects the pins of a unit that accesses memory in AXI4. A port of one direction has no pins for the other one. */
class ManagerPins(spec: ManagerSpec, box: UnitBox) {
  private def has(signal: String): Boolean = spec.pins.contains(signal)
  private def pin(signal: String): UInt = box.io.bits(spec.pins(signal).name)
  private def drive(signal: String, value: => Data): Unit = if (has(signal)) pin(signal) := value.asUInt

  def connect(bus: AXI4Bundle): Unit = {
    address("ar", bus.ar)
    address("aw", bus.aw)
    bus.w.valid := (if (has("w_valid")) pin("w_valid").asBool else false.B)
    bus.w.bits := DontCare
    if (has("w_valid")) {
      bus.w.bits.data := pin("w_bits_data")
      bus.w.bits.strb := pin("w_bits_strb")
      bus.w.bits.last := pin("w_bits_last")
    }
    drive("w_ready", bus.w.ready)

    drive("r_valid", bus.r.valid)
    drive("r_bits_id", bus.r.bits.id)
    drive("r_bits_data", bus.r.bits.data)
    drive("r_bits_resp", bus.r.bits.resp)
    drive("r_bits_last", bus.r.bits.last)
    bus.r.ready := (if (has("r_ready")) pin("r_ready").asBool else true.B)
    drive("b_valid", bus.b.valid)
    drive("b_bits_id", bus.b.bits.id)
    drive("b_bits_resp", bus.b.bits.resp)
    bus.b.ready := (if (has("b_ready")) pin("b_ready").asBool else true.B)
  }

  private def address(channel: String, to: IrrevocableIO[_ <: AXI4BundleA]): Unit = {
    to.bits := DontCare
    to.valid := false.B
    if (has(s"${channel}_valid")) {
      def of(signal: String): UInt = pin(s"${channel}_$signal")
      to.valid := of("valid").asBool
      to.bits.id := (if (has(s"${channel}_bits_id")) of("bits_id") else 0.U)
      to.bits.addr := within(of("bits_addr"), to.bits.addr.getWidth)
      to.bits.len := of("bits_len")
      to.bits.size := of("bits_size")
      to.bits.burst := of("bits_burst")
      to.bits.lock := 0.U
      to.bits.cache := 0.U
      to.bits.prot := 0.U
      to.bits.qos := 0.U
    }
    drive(s"${channel}_ready", to.ready)
  }

  /** An address that is longer than those of the chip leads to its first bytes, where nothing is. */
  private def within(address: UInt, bits: Int): UInt =
    if (address.getWidth <= bits) address else Mux((address >> bits).orR, 0.U, address(bits - 1, 0))
}
