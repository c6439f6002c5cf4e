package rackwright.nic.send

import chisel3._
import chisel3.util._

import rackwright.access.ReorderBuffer
import rackwright.network.Flit
import rackwright.nic.control.{RateLimiter, RateSetting}
import rackwright.nic.port.{Completion, Params, SendRequest}
import rackwright.nic.virtio.{SegmentPacker, SendHeader}
import rackwright.port.{MemoryPort, StreamFlit}

/** The signals between virtio headers and the features agreed on with the driver. */
class SendHeaders extends Bundle {

  /** Headers may request checksums. */
  val checksums = Input(Bool())

  /** A header has just requested a checksum outside its frame. */
  val wrong = Output(Bool())
}

/** From a request to flits on the wire: reader, reorder buffer, aligner, checksum, rate limiter. */
class SendPath(params: Params) extends Module {
  val request = IO(Flipped(Decoupled(new SendRequest(params.virtio))))
  val completion = IO(Decoupled(new Completion))
  val rate = IO(Input(new RateSetting))
  val rateWritten = IO(Input(Bool()))
  val memory = IO(new MemoryPort(params.port))
  val network = IO(Decoupled(new StreamFlit(params.networkBytes)))

  /** The signals for virtio headers, if they are supported. */
  val headers = Option.when(params.virtio)(IO(new SendHeaders))

  /** A flit that leaves in this cycle. */
  val sent = IO(Output(Valid(new Flit(params.networkBytes))))

  /** A frame waits for memory. */
  val stall = IO(Output(Bool()))

  /** A flit waits for tokens. */
  val limited = IO(Output(Bool()))

  /** The path is inactive until memory responds or there is a new request or a place for a completion. */
  val idle = IO(Output(Bool()))

  private val reader = Module(new SendReader(params.port, params.outstanding, params.virtio))
  private val buffer = Module(new ReorderBuffer(params.port, params.outstanding))
  private val frames = Module(new Queue(new SendFrame(params.port, params.virtio), params.queueEntries))
  private val aligner = Module(new SendAligner(params.port, params.virtio, params.networkBytes))
  private val header = Option.when(params.virtio)(Module(new SendHeader(params.networkBytes)))
  private val packer = Option.when(params.virtio)(Module(new SegmentPacker(params.networkBytes)))
  private val checksum = Module(new SendChecksum(params.networkBytes))
  private val limiter = Module(new RateLimiter(params.networkBytes))

  reader.request <> request
  reader.reserve <> buffer.reserve
  memory.request <> reader.memory
  buffer.response <> memory.response
  buffer.clear := false.B
  frames.io.enq <> reader.frame
  // In a register, for the aligner has much to do in the cycle in which it sees a frame first.
  aligner.frame <> Queue(frames.io.deq, 1, pipe = true)
  aligner.beat <> buffer.beat
  completion <> aligner.completion
  packer.zip(header).zip(headers) match {
    case Some(((packer, header), headers)) =>
      header.in <> Queue(aligner.out, 2)
      header.checksums := headers.checksums
      headers.wrong := header.wrong
      packer.in <> Queue(header.out, 2)
      checksum.in <> packer.out
    case None => checksum.in <> Queue(aligner.out, 2)
  }
  limiter.in <> checksum.out
  limiter.setting := rate
  limiter.restart := rateWritten

  network.valid := limiter.out.valid
  network.bits := Flit.onWire(limiter.out.bits)
  limiter.out.ready := network.ready

  sent.valid := network.fire
  sent.bits := limiter.out.bits
  stall := aligner.stall
  limited := limiter.in.valid && !limiter.out.valid
  private val waits = reader.idle && buffer.still && !frames.io.deq.fire
  private val packed = packer.zip(header).map { case (packer, header) => packer.idle && header.idle }.getOrElse(true.B)
  idle := waits && packed && aligner.idle && checksum.idle && limiter.idle && !network.valid
}
