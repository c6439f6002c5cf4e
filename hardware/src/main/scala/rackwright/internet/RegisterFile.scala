package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.port.MmioPort

/** Reads and writes of registers, one at a time. No access ever waits for frames. */
class RegisterFile(params: Params) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val settings = IO(Output(new Settings(params)))
  val counters = IO(Input(Vec(Counters.names.size, UInt(Counters.bits.W))))
  val flush = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val set = RegInit(RegisterFile.initial(params))
  settings := set
  private val fields = Seq(
    Registers.mac -> set.mac,
    Registers.address -> set.address,
    Registers.mask -> set.mask,
    Registers.gateway -> set.gateway,
    Registers.interval -> set.interval
  )
  private val bindings = set.bindings.zipWithIndex.map { case (one, i) => (Registers.firstBinding + 8 * i) -> one }
  private val read = fields ++ Seq(Registers.vlan -> Cat(set.tagged, 0.U(51.W), set.vlan)) ++
    bindings.map { case (at, one) =>
      at -> Cat(one.present, 0.U((63 - 16 - params.streamBits).W), one.stream, one.port)
    } ++
    counters.zipWithIndex.map { case (counter, i) => (Registers.firstCounter + 8 * i) -> counter }

  // An access is looked at in the cycle after it came, and answered in the one after that.
  private val access = Reg(chiselTypeOf(mmio.request.bits))
  private val holds = RegInit(false.B)
  private val answered = RegInit(false.B)
  private val answer = Reg(UInt(64.W))
  mmio.request.ready := !holds && !answered
  mmio.response.valid := answered
  mmio.response.bits.data := answer
  when(mmio.response.fire) { answered := false.B }
  when(mmio.request.fire) {
    holds := true.B
    access := mmio.request.bits
  }
  flush := holds && access.write && access.address === Registers.flush.U
  when(holds) {
    holds := false.B
    answered := true.B
    answer := MuxLookup(access.address, 0.U(64.W))(read.map { case (at, value) => at.U -> value.pad(64) })
    when(access.write) {
      fields.foreach { case (at, field) =>
        when(access.address === at.U) { field := access.data(field.getWidth - 1, 0) }
      }
      when(access.address === Registers.vlan.U) {
        set.vlan := access.data(11, 0)
        set.tagged := access.data(63)
      }
      bindings.foreach { case (at, one) =>
        when(access.address === at.U) {
          one.port := access.data(15, 0)
          one.stream := access.data(15 + params.streamBits, 16)
          one.present := access.data(63)
        }
      }
    }
  }
  idle := !holds && !answered
}

/** What registers hold after reset. */
object RegisterFile {

  /** Cycles of a second, the least between two queries for an address (RFC 1122, 2.3.2.1). */
  private val second: Long = 2000000000L

  private def initial(params: Params): Settings = {
    val settings = WireDefault(0.U.asTypeOf(new Settings(params)))
    settings.interval := second.U
    settings
  }
}
