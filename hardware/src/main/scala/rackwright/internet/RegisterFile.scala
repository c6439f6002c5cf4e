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
  private val map = Registers.of(params)
  private val (vlan, binding, limit) = (map("vlan"), map("bindings"), map("limit"))
  private val fields = Seq(
    map("mac").offset -> set.mac,
    map("address").offset -> set.address,
    map("mask").offset -> set.mask,
    map("gateway").offset -> set.gateway,
    map("interval").offset -> set.interval,
    map("unreachable").offset -> set.unreachable,
    map("reassembly").offset -> set.reassembly
  ) ++ map("addresses").offsets.zip(set.addresses) ++ map("groups").offsets.zip(set.groups)
  private val bindings = binding.offsets.zip(set.bindings)
  private val read = fields ++ Seq(vlan.offset -> vlan.word("number" -> set.vlan, "present" -> set.tagged)) ++
    Seq(limit.offset -> limit.word("cycles" -> set.limit.cycles, "allowance" -> set.limit.allowance)) ++
    bindings.map { case (at, one) =>
      at -> binding.word("port" -> one.port, "stream" -> one.stream, "present" -> one.present)
    } ++
    map.counters.map(_.offset).zip(counters)

  // An access is processed in the cycle after its arrival, and its response is sent in the next one.
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
  flush := holds && access.write && access.address === map("flush").offset.U
  when(holds) {
    holds := false.B
    answered := true.B
    answer := MuxLookup(access.address, 0.U(64.W))(read.map { case (at, value) => at.U -> value.pad(64) })
    when(access.write) {
      fields.foreach { case (at, field) =>
        when(access.address === at.U) { field := access.data(field.getWidth - 1, 0) }
      }
      when(access.address === vlan.offset.U) {
        set.vlan := vlan("number").of(access.data)
        set.tagged := vlan("present").of(access.data)
      }
      when(access.address === limit.offset.U) {
        set.limit.cycles := limit("cycles").of(access.data)
        set.limit.allowance := limit("allowance").of(access.data)
      }
      bindings.foreach { case (at, one) =>
        when(access.address === at.U) {
          one.port := binding("port").of(access.data)
          one.stream := binding("stream").of(access.data)
          one.present := binding("present").of(access.data)
        }
      }
    }
  }
  idle := !holds && !answered
}

/** The reset values of registers. */
object RegisterFile {

  /** Cycles of a second, the minimum between two requests for an address (RFC 1122, 2.3.2.1); fragments are waited for
    * a minute (3.3.2).
    */
  private val second: Long = 2000000000L

  private def initial(params: Params): Settings = {
    val settings = WireDefault(0.U.asTypeOf(new Settings(params)))
    settings.interval := second.U
    settings.unreachable := (second / 100000).U
    settings.reassembly := (60 * second).U
    settings
  }
}
