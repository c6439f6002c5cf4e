package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPortParams, MemoryRequest}
import rackwright.stream.StreamRange

/** Requests the beats of a range, in order, as long as [[ReservationBuffer]] has room for the responses. */
class BeatRequester(port: MemoryPortParams, outstanding: Int) extends Module {

  /** A range to request; the previous one is dropped. */
  val start = IO(Flipped(Valid(new StreamRange)))

  /** Ask no more. */
  val stop = IO(Input(Bool()))

  /** A slot for one more beat; the number of the slot is the tag. */
  val reserve = IO(Flipped(Decoupled(UInt(log2Ceil(outstanding).W))))

  /** Reads, in order of address. */
  val request = IO(Decoupled(new MemoryRequest(port)))

  private val beatNumberBits = port.addressBits - port.offsetBits
  private val next = Reg(UInt(beatNumberBits.W))
  private val left = RegInit(0.U((beatNumberBits + 1).W))

  request.valid := left =/= 0.U && reserve.valid && !stop
  reserve.ready := left =/= 0.U && request.ready && !stop
  request.bits.read(next << port.offsetBits, reserve.bits)

  when(request.fire) {
    next := next + 1.U
    left := left - 1.U
  }
  when(start.valid) {
    next := start.bits.address(port.addressBits - 1, port.offsetBits)
    left := BeatRequester.beats(port, start.bits)
  }.elsewhen(stop) {
    left := 0.U
  }
}

/** Arithmetic on ranges and beats. */
object BeatRequester {

  /** Number of beats that contain a byte of the range. */
  def beats(port: MemoryPortParams, range: StreamRange): UInt = {
    val offset = range.address(port.offsetBits - 1, 0)
    val rounded = range.length +& (offset +& (port.bytes - 1).U)
    Mux(range.length === 0.U, 0.U, rounded >> port.offsetBits)
  }
}
