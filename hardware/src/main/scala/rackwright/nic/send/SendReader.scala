package rackwright.nic.send

import chisel3._
import chisel3.util._

import rackwright.network.Frame
import rackwright.nic.port.{Registers, SendChecksumRequest, SendRequest}
import rackwright.nic.virtio.Virtio
import rackwright.port.{MemoryPortParams, MemoryRequest, Status}

/** A frame whose beats are in the reservation buffer. */
class SendFrame(port: MemoryPortParams, segments: Boolean = false) extends Bundle {

  /** Place of the frame's first byte in its first beat. */
  val offset = UInt(port.offsetBits.W)
  val length = UInt(16.W)

  /** Anything but `ok`: no data are read or sent for it. */
  val status = UInt(Status.width.W)
  val checksum = new SendChecksumRequest

  /** The frame continues in the next one. */
  val more = Option.when(segments)(Bool())

  /** A header of virtio is before it. */
  val header = Option.when(segments)(Bool())
}

/** Requests the beats of frames, one after the other without a pause, as long as there is room for the responses.
  */
class SendReader(port: MemoryPortParams, outstanding: Int, segments: Boolean = false) extends Module {
  val request = IO(Flipped(Decoupled(new SendRequest(segments))))

  /** A slot for one more beat; the number of the slot is the tag. */
  val reserve = IO(Flipped(Decoupled(UInt(log2Ceil(outstanding).W))))
  val memory = IO(Decoupled(new MemoryRequest(port)))

  /** Every frame, in order, when its first beat is about to be requested. */
  val frame = IO(Decoupled(new SendFrame(port, segments)))

  /** No request is sent or accepted in this cycle. */
  val idle = IO(Output(Bool()))

  private val beatNumberBits = Registers.addressBits + 1 - port.offsetBits
  private val next = Reg(UInt(beatNumberBits.W))
  private val left = RegInit(0.U(Frame.lengthBits.W))

  memory.valid := left =/= 0.U && reserve.valid
  reserve.ready := left =/= 0.U && memory.ready
  memory.bits.address := next << port.offsetBits
  memory.bits.write := false.B
  memory.bits.data := 0.U
  memory.bits.mask := 0.U
  memory.bits.tag := reserve.bits
  idle := !memory.valid && !request.fire

  private val free = left === 0.U || (left === 1.U && memory.fire)
  request.ready := free && frame.ready
  frame.valid := free && request.valid

  private val offset = request.bits.address(port.offsetBits - 1, 0)
  private val legal = SendReader.legal(request.bits)
  frame.bits.offset := offset
  frame.bits.length := request.bits.length
  frame.bits.status := Mux(legal, Status.ok, Status.unsupported)
  frame.bits.checksum := request.bits.checksum
  frame.bits.more.zip(request.bits.more).foreach { case (frame, request) => frame := request }
  frame.bits.header.zip(request.bits.header).foreach { case (frame, request) => frame := request }

  when(memory.fire) {
    next := next + 1.U
    left := left - 1.U
  }
  when(request.fire) {
    next := request.bits.address >> port.offsetBits
    left := Mux(legal, (request.bits.length +& offset + (port.bytes - 1).U) >> port.offsetBits, 0.U)
  }
}

/** The limits of sent frames. */
object SendReader {

  /** The length is that of a frame, and the checksum begins and ends within it. */
  def legal(request: SendRequest): Bool = {
    val longest =
      request.header.fold(Frame.maxBytes.U)(Mux(_, (Frame.maxBytes + Virtio.headerBytes).U, Frame.maxBytes.U))
    val lengthLegal = request.length =/= 0.U && request.length <= longest
    val fieldEnd = request.checksum.offset +& 2.U
    val checksumLegal = request.checksum.start < request.length && fieldEnd <= request.length
    lengthLegal && (checksumLegal || !request.checksum.enable)
  }
}
