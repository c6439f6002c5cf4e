package rackwright.mover

import chisel3._
import chisel3.util._

import rackwright.port.{RegisterMap, Status}

/** The registers of one stream. README.md is the contract. */
class StreamRegisters extends Module {
  import StreamRegisters.map

  /** An access to one of them, `offset` from the first one on. */
  val access = IO(Input(Valid(new OwnAccess)))

  /** The register's value, and whether the access is refused. */
  val value = IO(Output(UInt(32.W)))
  val refused = IO(Output(Bool()))

  /** What moves the frames. */
  val control = IO(new StreamControl)

  /** High while an ended frame has not been acknowledged, if this is enabled. */
  val interrupt = IO(Output(Bool()))

  private val address = RegInit(0.U(64.W))
  private val bytes = RegInit(0.U(32.W))
  private val busy = RegInit(false.B)
  private val done = RegInit(false.B)
  private val status = RegInit(Status.ok)
  private val interrupts = RegInit(false.B)

  private def at(name: String): Bool = access.bits.offset === map(name).offset.U
  private def writes(name: String): Bool = access.valid && access.bits.write && at(name)
  private val data = access.bits.data

  private val readOnly = at("status") || at("moved")
  refused := access.bits.write && (readOnly || (at("bytes") && busy)) || !map.registers.map(r => at(r.name)).reduce(
    _ || _
  )
  control.start.valid := writes("bytes") && !busy
  control.start.bits.address := address
  control.start.bits.bytes := data
  control.stop := writes("control") && map("control")("stop").of(data).asBool && busy
  interrupt := done && interrupts

  value := MuxCase(
    0.U,
    Seq(
      at("address") -> address(31, 0),
      at("address_high") -> address(63, 32),
      at("bytes") -> bytes,
      at("status") -> map("status").word("code" -> status, "busy" -> busy, "done" -> done),
      at("moved") -> control.moved,
      at("control") -> map("control").word("interrupt" -> interrupts)
    )
  )

  when(writes("address")) { address := Cat(address(63, 32), data) }
  when(writes("address_high")) { address := Cat(data, address(31, 0)) }
  when(writes("control")) {
    interrupts := map("control")("interrupt").of(data).asBool
    when(map("control")("acknowledge").of(data).asBool) { done := false.B }
  }
  when(control.start.valid) {
    bytes := data
    busy := true.B
    done := false.B
  }
  when(control.done) {
    busy := false.B
    done := true.B
    status := control.status
  }
}

/** The register map. */
object StreamRegisters {

  /** That of one stream, in `registers.json`; registers have 32 bits. */
  val map: RegisterMap = RegisterMap.read("mover")

  /** Bytes from the registers of a stream to those of the next. */
  val stride: Int = 64
}
