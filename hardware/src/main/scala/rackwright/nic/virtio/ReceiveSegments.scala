package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Summed}
import rackwright.nic.port.ReceiveRequest

/** A flit for memory, and the destination of its part of a frame.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class PartFlit(flitBytes: Int) extends Bundle {
  val flit = new Summed(new Flit(flitBytes))
  val request = new ReceiveRequest
}

/** Prepends the virtio header to received frames, and divides them into the segments of chains.
  *
  * A frame uses a request of the registers if one waits when the frame begins, otherwise the chains that a
  * [[ChainGatherer]] has found for it. One for which they have no room is dropped.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class ReceiveSegments(flitBytes: Int) extends Module {
  import ReceiveSegments._

  /** Whole frames. */
  val in = IO(Flipped(Decoupled(new Summed(new Flit(flitBytes)))))

  /** The properties of the same frames. */
  val arrival = IO(Flipped(Decoupled(new Arrival)))
  val registers = IO(Flipped(Decoupled(new ReceiveRequest)))
  val chain = IO(Flipped(Decoupled(new Chain)))
  val segment = IO(Flipped(Decoupled(new Segment)))

  /** Bytes of the next frame with its header, and the number of chains that it fills. */
  val wanted = IO(Output(Valid(UInt(Virtio.totalBits.W))))
  val gathered = IO(Input(new Gathered))

  /** Headers report correct checksums. */
  val tellsChecksums = IO(Input(Bool()))

  /** Chains may be filled. */
  val run = IO(Input(Bool()))
  val out = IO(Decoupled(new PartFlit(flitBytes)))

  /** With the last flit of each part: its properties when it is complete. */
  val part = IO(Decoupled(new Part))

  /** A frame has been dropped in this cycle. */
  val dropped = IO(Output(Bool()))

  /** A frame for a chain is in progress here. */
  val busy = IO(Output(Bool()))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val countBits = Flit.countBits(flitBytes)
  private val state = RegInit(State.choose)
  private val taken = RegInit(0.U(countBits.W))
  private val filled = RegInit(0.U(16.W))
  private val written = RegInit(0.U(16.W))
  private val buffers = Reg(UInt(gathered.number.getWidth.W))
  wanted.valid := state === State.choose && arrival.valid
  wanted.bits := arrival.bits.length +& Virtio.headerBytes.U

  // The header, in flits of its own, and the frame after it.
  private val headerFlits = (Virtio.headerBytes + flitBytes - 1) / flitBytes
  private val headerFlit = RegInit(0.U(log2Ceil(headerFlits + 1).W))
  private val header = state === State.header
  private val flags = Mux(arrival.bits.verified && tellsChecksums, dataValid.U, 0.U)
  private val headerData = ((buffers << numberOfBuffersBit) | flags).pad(8 * flitBytes * headerFlits)
  private val source = Wire(new Flit(flitBytes))
  source := in.bits.along
  when(header) {
    source.last := false.B
    for (number <- 0 until headerFlits) when(headerFlit === number.U) {
      source.data := headerData(8 * flitBytes * (number + 1) - 1, 8 * flitBytes * number)
      source.count := flitBytes.min(Virtio.headerBytes - number * flitBytes).U
    }
  }

  // The part of the flit that is left and fits into the segment.
  private val left = source.count - taken
  private val room = segment.bits.length - filled
  private val fits = left <= room
  private val count = Mux(fits, left, room(countBits - 1, 0))
  private val fillsSegment = room <= left
  private val endsFrame = source.last && fits
  private val ends = fillsSegment || endsFrame
  private val writtenNow = written + count
  private val cutting = header || state === State.cut
  private val passing = state === State.pass
  private val begins = Mux(passing, registers.valid, cutting && segment.valid && chain.valid)
  private val lastFlit = Mux(passing, in.bits.along.last, ends)

  out.valid := begins && (header || in.valid) && (part.ready || !lastFlit)
  out.bits.flit := in.bits
  out.bits.request := registers.bits
  when(cutting) {
    val mask = FillInterleaved(8, Flit.firstBytes(count, flitBytes))
    val shift = Cat(taken(log2Ceil(flitBytes) - 1, 0), 0.U(3.W))
    out.bits.flit.along.data := (source.data >> shift) & mask
    out.bits.flit.along.count := count
    out.bits.flit.along.last := ends
    out.bits.request.address := segment.bits.address
    out.bits.request.capacity := segment.bits.length
  }
  part.valid := out.fire && lastFlit
  part.bits.virtio := cutting
  part.bits.last := endsFrame || segment.bits.last
  part.bits.used.head := chain.bits.head
  part.bits.used.length := writtenNow
  part.bits.used.more := !endsFrame

  private val finished = out.fire && Mux(passing, in.bits.along.last, endsFrame)
  private val droppedNow = state === State.drop && in.fire && in.bits.along.last
  in.ready := (passing && out.fire) || (state === State.cut && out.fire && fits) || state === State.drop
  registers.ready := passing && out.fire && in.bits.along.last
  segment.ready := (cutting && out.fire && ends) || state === State.skip
  chain.ready := segment.fire && segment.bits.last
  arrival.ready := finished || droppedNow
  dropped := droppedNow

  when(out.fire && cutting) {
    taken := Mux(fits, 0.U, taken + count)
    filled := Mux(ends, 0.U, filled + count)
    written := Mux(endsFrame || (ends && segment.bits.last), 0.U, writtenNow)
    when(fits && header) {
      headerFlit := headerFlit + 1.U
      when(headerFlit === (headerFlits - 1).U) { state := State.cut }
    }
    when(endsFrame) { state := Mux(segment.bits.last, State.choose, State.skip) }
  }
  private val decided = gathered.enough || gathered.small
  private val chosen = state === State.choose && arrival.valid && (registers.valid || (run && decided))
  when(chosen) {
    state := Mux(registers.valid, State.pass, Mux(gathered.enough, State.header, State.drop))
    buffers := gathered.number
    headerFlit := 0.U
  }
  when(passing && finished || droppedNow) { state := State.choose }
  when(state === State.skip && segment.fire && segment.bits.last) { state := State.choose }

  busy := cutting || state === State.skip || state === State.drop
  idle := !out.fire && !in.fire && !segment.fire && !chosen
}

/** What [[ReceiveSegments]] do. */
object ReceiveSegments {

  /** The position of `num_buffers` in a header (virtio 1.2, section 5.1.6). */
  private val numberOfBuffersBit = 80

  /** `VIRTIO_NET_HDR_F_DATA_VALID`, among the flags in the first byte. */
  private val dataValid = 2

  private object State extends ChiselEnum {
    val choose, pass, header, cut, skip, drop = Value
  }
}
