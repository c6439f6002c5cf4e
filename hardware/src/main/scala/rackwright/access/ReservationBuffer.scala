package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile
import rackwright.port.{MemoryPortParams, MemoryResponse}

/** A beat as memory answered it. */
class LoadedBeat(bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val fault = Bool()
}

/** Restores the order of requests for memory's responses.
  *
  * A ring of slots, each the size of a beat. A slot is reserved before its beat is requested, so that there is always
  * room for a response, and is free again once its beat has been taken in order.
  */
class ReservationBuffer(port: MemoryPortParams, slots: Int) extends Module {
  require(isPow2(slots) && slots >= 2, s"the beats outstanding are a power of two from 2, not $slots")
  require(slots <= port.outstanding, s"$slots beats outstanding need more than ${port.tagBits} tag bits")
  private val slotBits = log2Ceil(slots)

  /** Drops every beat; allowed only while `quiet`. */
  val clear = IO(Input(Bool()))

  /** The slot for one more beat. */
  val reserve = IO(Decoupled(UInt(slotBits.W)))

  /** Answers of memory, in any order; always taken. */
  val response = IO(Flipped(Decoupled(new MemoryResponse(port))))

  /** The next beat in the order of the reservations. */
  val beat = IO(Decoupled(new LoadedBeat(port.bytes)))

  /** Every reserved beat has been answered. */
  val quiet = IO(Output(Bool()))

  private val beats = RegisterFile(slots, new LoadedBeat(port.bytes))
  private val answered = RegInit(0.U(slots.W))
  private val head = RegInit(0.U(slotBits.W))
  private val tail = RegInit(0.U(slotBits.W))
  private val held = RegInit(0.U((slotBits + 1).W))
  private val awaited = RegInit(0.U((slotBits + 1).W))

  reserve.valid := held =/= slots.U
  reserve.bits := tail

  response.ready := true.B
  private val slot = response.bits.tag(slotBits - 1, 0)
  when(response.valid) {
    val answer = Wire(new LoadedBeat(port.bytes))
    answer.data := response.bits.data
    answer.fault := response.bits.fault
    beats.write(slot, answer)
  }

  beat.valid := answered(head)
  beat.bits := beats.read(head)
  quiet := awaited === 0.U

  private val arrival = Mux(response.valid, UIntToOH(slot, slots), 0.U)
  private val departure = Mux(beat.fire, UIntToOH(head, slots), 0.U)
  answered := (answered | arrival) & ~departure
  when(reserve.fire) { tail := tail + 1.U }
  when(beat.fire) { head := head + 1.U }
  held := held + reserve.fire - beat.fire
  awaited := awaited + reserve.fire - response.valid

  when(clear) {
    answered := 0.U
    head := 0.U
    tail := 0.U
    held := 0.U
  }
}
