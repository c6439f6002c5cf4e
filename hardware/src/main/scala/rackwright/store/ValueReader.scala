package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.access.{LoadedBeat, ReorderBuffer}
import rackwright.port.MemoryPort

/** A range of bytes to read: one value. */
class ValueRange extends Bundle {
  val place = UInt(Grain.placeBits.W)
  val bytes = UInt(Limits.valueBits.W)
}

/** Reads values one after the other: for each, every grain that holds a byte of it. */
class ValueReader(params: Params) extends Module {
  val base = IO(Input(UInt(64.W)))

  /** Of at least one byte. */
  val range = IO(Flipped(Decoupled(new ValueRange)))
  val beat = IO(Decoupled(new LoadedBeat(Grain.bytes)))
  val memory = IO(new MemoryPort(params.port))

  /** No read is outstanding, and none will be issued. */
  val quiet = IO(Output(Bool()))

  private val buffer = Module(new ReorderBuffer(params.port, params.outstanding))
  private val address = Reg(UInt(64.W))
  private val left = RegInit(0.U((Limits.valueBits - Grain.shift).W))
  private val active = RegInit(false.B)

  private val asks = active && buffer.reserve.valid
  memory.request.valid := asks
  memory.request.bits.read(address, buffer.reserve.bits)
  private val sent = asks && memory.request.ready
  buffer.reserve.ready := sent
  range.ready := !active || (sent && left === 0.U)
  when(sent) {
    address := address + Grain.bytes.U
    left := left - 1.U
    active := left =/= 0.U
  }
  when(range.fire) {
    address := Grain.address(base, range.bits.place)
    left := (range.bits.bytes - 1.U) >> Grain.shift
    active := true.B
  }
  buffer.clear := false.B
  buffer.response <> memory.response
  beat <> buffer.beat
  quiet := !active && buffer.quiet
}
