package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.config.Parameters
import freechips.rocketchip.diplomacy._
import freechips.rocketchip.tilelink._

/** An access to a register: `mask` has the bytes that are written. */
class RegisterRequest(val spec: RegisterSpec) extends Bundle {
  val address = UInt(spec.addressBits.W)
  val write = Bool()
  val data = UInt((8 * spec.bytes).W)
  val mask = UInt(spec.bytes.W)
}

/** The answer to an access. */
class RegisterResponse(val spec: RegisterSpec) extends Bundle {
  val data = UInt((8 * spec.bytes).W)
  val error = Bool()
}

/** Registers of a unit, seen from the unit. */
class RegisterAccess(val spec: RegisterSpec) extends Bundle {
  val request = Decoupled(new RegisterRequest(spec))
  val response = Flipped(Decoupled(new RegisterResponse(spec)))
}

/** From TileLink to the registers of a unit, one access after the other.
  *
  * A request stands still until the unit has taken it, as AXI4-Lite wants it. Request and answer are registered, so
  * that no path goes through the unit from one side of the bus to the other.
  */
class RegisterPort(unit: BusUnitSpec, device: SimpleDevice)(implicit p: Parameters) extends LazyModule {
  private val sizes = TransferSizes(1, unit.registers.bytes)

  val node = TLManagerNode(Seq(TLManagerPortParameters(
    Seq(TLManagerParameters(
      address = Seq(AddressSet(unit.base, unit.size - 1)),
      resources = device.reg,
      regionType = RegionType.GET_EFFECTS,
      supportsGet = sizes,
      supportsPutFull = sizes,
      supportsPutPartial = sizes,
      mayDenyGet = true,
      mayDenyPut = true,
      fifoId = Some(0)
    )),
    beatBytes = unit.registers.bytes,
    minLatency = 1
  )))

  lazy val module = new RegisterPortModule(this, unit.registers)
}

/** The logic of a `RegisterPort`: `unit` is the port of the unit. */
class RegisterPortModule(outer: RegisterPort, spec: RegisterSpec) extends LazyModuleImp(outer) {
  val unit = IO(new RegisterAccess(spec))

  private val (bus, edge) = outer.node.in.head
  private val idle :: asks :: waits :: answers :: Nil = Enum(4)
  private val state = RegInit(idle)
  private val asked = Reg(chiselTypeOf(bus.a.bits))
  private val answer = Reg(new RegisterResponse(spec))

  // A part of a register that has no parts is denied, and never gets to the unit.
  private val isPart = (!spec.parts).B && bus.a.bits.size =/= log2Ceil(spec.bytes).U
  bus.a.ready := state === idle
  when(bus.a.fire()) {
    asked := bus.a.bits
    answer.error := true.B
    answer.data := 0.U
    state := Mux(isPart, answers, asks)
  }

  private val reads = edge.hasData(asked) === false.B
  unit.request.valid := state === asks
  unit.request.bits.address := asked.address
  unit.request.bits.write := !reads
  unit.request.bits.data := asked.data
  unit.request.bits.mask := asked.mask
  unit.response.ready := state === asks || state === waits
  when(unit.request.fire()) { state := waits }
  when(unit.response.fire()) {
    answer := unit.response.bits
    state := answers
  }

  bus.d.valid := state === answers
  bus.d.bits := edge.AccessAck(asked, answer.error)
  when(reads) { bus.d.bits := edge.AccessAck(asked, answer.data, answer.error, answer.error) }
  when(bus.d.fire()) { state := idle }

  bus.b.valid := false.B
  bus.c.ready := true.B
  bus.e.ready := true.B
}
