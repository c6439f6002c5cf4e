package rackwright.nic.receive

import chisel3._
import chisel3.util._

import rackwright.access.WriteBeat
import rackwright.network.{Flit, Frame, Summed}
import rackwright.nic.port.{Completion, ReceiveRequest, Registers}
import rackwright.port.{MemoryPortParams, Status}

/** A beat of a frame to write. The last of a frame carries its completion, and may name no bytes. */
class FrameBeat(port: MemoryPortParams) extends Bundle {
  val write = new WriteBeat(port)
  val last = Bool()
  val completion = new Completion
}

/** Fills beats with the flits of frames, each frame to the buffer of one request.
  *
  * One flit is taken per cycle. The last flit of a frame may extend over two beats: the second is output in the next
  * cycle, in which the first flit of the next frame is accepted anyway, unless it fills a beat.
  *
  * @param flitBytes
  *   bytes of a flit, at most a beat.
  */
class ReceivePacker(port: MemoryPortParams, flitBytes: Int) extends Module {
  val summed = IO(Flipped(Decoupled(new Summed(new Flit(flitBytes)))))

  /** The buffer of the frame; taken with its last flit. */
  val request = IO(Flipped(Decoupled(new ReceiveRequest)))
  val beat = IO(Decoupled(new FrameBeat(port)))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val flit = summed.bits.along
  private val beatNumberBits = Registers.addressBits + 1 - port.offsetBits
  private val wideBits = 8 * (port.bytes + flitBytes)

  private val first = RegInit(true.B)
  private val beatNumberBefore = Reg(UInt(beatNumberBits.W))
  private val offsetBefore = Reg(UInt(port.offsetBits.W))
  private val roomBefore = Reg(UInt(16.W))
  private val lengthBefore = Reg(UInt(16.W))
  private val carry = Reg(UInt((8 * port.bytes).W))
  private val carryMask = Reg(UInt(port.bytes.W))
  private val tailValid = RegInit(false.B)
  private val tail = Reg(new FrameBeat(port))

  private def whenFirst(start: UInt, before: UInt): UInt = Mux(first, start, before)
  private val beatNumber = whenFirst(request.bits.address >> port.offsetBits, beatNumberBefore)
  private val offset = whenFirst(request.bits.address(port.offsetBits - 1, 0), offsetBefore)
  private val room = whenFirst(ReceivePacker.capacity(request.bits), roomBefore)
  private val length = whenFirst(0.U, lengthBefore) + flit.count

  private val fits = flit.count <= room
  private val taken = Mux(fits, flit.count, room(Flit.countBits(flitBytes) - 1, 0))
  private val takenMask = Flit.firstBytes(taken, flitBytes)
  private val data = (flit.data & FillInterleaved(8, takenMask)).pad(wideBits) << Cat(offset, 0.U(3.W))
  private val mask = takenMask.pad(port.bytes + flitBytes) << offset
  private val merged = (data | whenFirst(0.U, carry))(wideBits - 1, 0)
  private val mergedMask = (mask | whenFirst(0.U, carryMask))(wideBits / 8 - 1, 0)
  private val filled = merged(8 * port.bytes - 1, 0)
  private val filledMask = mergedMask(port.bytes - 1, 0)
  private val rest = merged >> (8 * port.bytes)
  private val restMask = mergedMask >> port.bytes

  private val end = offset +& taken
  private val fills = end >= port.bytes.U
  private val splits = flit.last && restMask.orR
  private val overflow = length > ReceivePacker.capacity(request.bits)

  private val completion = Wire(new Completion)
  completion.status := Mux(overflow, Status.outputFull, Status.ok)
  completion.length := length
  completion.sum := summed.bits.sum

  private val now = Wire(new FrameBeat(port))
  now.write.address := beatNumber << port.offsetBits
  now.write.data := filled
  now.write.mask := filledMask
  now.last := flit.last && !splits
  now.completion := completion

  private val emits = fills || flit.last
  private val canEmit = beat.ready && !tailValid
  private val taking = summed.valid && request.valid && (canEmit || !emits)
  summed.ready := request.valid && (canEmit || !emits)
  request.ready := taking && flit.last
  beat.valid := tailValid || (summed.valid && request.valid && emits)
  beat.bits := Mux(tailValid, tail, now)
  idle := !taking && !beat.fire

  when(tailValid && beat.ready) { tailValid := false.B }
  when(taking) {
    first := flit.last
    beatNumberBefore := beatNumber + fills
    offsetBefore := end(port.offsetBits - 1, 0)
    roomBefore := room - taken
    lengthBefore := length
    carry := Mux(fills, rest, filled)
    carryMask := Mux(fills, restMask, filledMask)
    when(splits) {
      tailValid := true.B
      tail := now
      tail.write.address := (beatNumber + 1.U) << port.offsetBits
      tail.write.data := rest
      tail.write.mask := restMask
      tail.last := true.B
    }
  }
}

/** The meaning of a request. */
object ReceivePacker {

  /** 0 stands for the longest frame: requests of the public unit have no capacity. */
  def capacity(request: ReceiveRequest): UInt = Mux(request.capacity === 0.U, Frame.maxBytes.U, request.capacity)
}
