package rackwright.mover

import chisel3._
import chisel3.util._

/** An access to the mover's own registers: of 32 bits, as a whole. */
class OwnAccess extends Bundle {
  val offset = UInt(LitePort.addressBits.W)
  val write = Bool()
  val data = UInt(32.W)
}

/** Distributes accesses between the unit's registers and those of the mover, one access after the other.
  *
  * @param bytes
  *   bytes of a register of the unit, 4 or 8.
  * @param unitBytes
  *   bytes of addresses with registers of the unit; 0 for a unit without.
  */
class RegisterRouter(bytes: Int, unitBytes: Int) extends Module {
  import RegisterRouter.State

  /** Accesses of the core. */
  val outer = IO(Flipped(new LitePort(bytes)))

  /** The registers of the unit. */
  val inner = IO(new LitePort(bytes))

  /** An access to a register of the mover, in the cycle in which it takes effect, with the answer in the same cycle. */
  val own = IO(Output(Valid(new OwnAccess)))
  val value = IO(Input(UInt(32.W)))
  val refused = IO(Input(Bool()))

  /** No access is in progress. */
  val idle = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val write = Reg(Bool())
  private val address = Reg(UInt(LitePort.addressBits.W))
  private val written = Reg(new LiteWriteData(bytes))
  private val addressWaits = RegInit(false.B)
  private val dataWaits = RegInit(false.B)
  private val read = Reg(new LiteReadData(bytes))

  private val free = state === State.idle
  outer.ar.ready := free
  private val writes = free && !outer.ar.valid && outer.aw.valid && outer.w.valid
  outer.aw.ready := writes
  outer.w.ready := writes
  idle := free && !outer.ar.valid && !outer.aw.valid && !outer.w.valid

  private val isOwn = address >= RegisterRouter.base.U
  private val isOfUnit = address < unitBytes.min(RegisterRouter.base).U
  private val lowest = if (bytes == 8) true.B else !address(2)
  own.valid := state === State.asking && isOwn && lowest && (!write || written.strb(3, 0).andR)
  own.bits.offset := Cat(address(LitePort.addressBits - 1, 3), 0.U(3.W))
  own.bits.write := write
  own.bits.data := written.data(31, 0)

  private val asks = state === State.asking && isOfUnit
  inner.ar.valid := asks && !write && addressWaits
  inner.ar.bits := address
  inner.aw.valid := asks && write && addressWaits
  inner.aw.bits := address
  inner.w.valid := asks && dataWaits
  inner.w.bits := written
  inner.r.ready := asks && !write && !addressWaits
  inner.b.ready := asks && write && !addressWaits && !dataWaits
  when(inner.ar.fire || inner.aw.fire) { addressWaits := false.B }
  when(inner.w.fire) { dataWaits := false.B }

  outer.r.valid := state === State.answering && !write
  outer.r.bits := read
  outer.b.valid := state === State.answering && write
  outer.b.bits := read.resp

  when(outer.ar.fire || writes) {
    state := State.asking
    write := writes
    address := Mux(writes, outer.aw.bits, outer.ar.bits)
    written := outer.w.bits
    addressWaits := true.B
    dataWaits := writes
  }
  when(state === State.asking && !isOfUnit) {
    state := State.answering
    read.data := value
    read.resp := Mux(own.valid && !refused, LitePort.okay, LitePort.slaveError)
  }
  when(inner.r.fire) {
    state := State.answering
    read := inner.r.bits
  }
  when(inner.b.fire) {
    state := State.answering
    read.resp := inner.b.bits
  }
  when(outer.r.fire || outer.b.fire) { state := State.idle }
}

/** The places of registers in the page. */
object RegisterRouter {

  /** The first byte of the mover's registers: the last quarter of the page. */
  val base: Int = 0xc00

  /** `asking` has an access performed. */
  object State extends ChiselEnum {
    val idle, asking, answering = Value
  }
}
