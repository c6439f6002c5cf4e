package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.memory.SramQueue
import rackwright.network.{Flit, Summed}
import rackwright.nic.port.{Completion, FarAccess, Params, ReceiveRequest, SendRequest}
import rackwright.port.{MemoryPort, MemoryPortParams, Status}
import rackwright.stream.SkidBuffer

/** A network device of virtio 1.2 in front of the send and the receive path. README.md is the contract. */
class VirtioNet(params: Params) extends Module {
  private val small = VirtioNet.ringPort(params.port)
  private val flit = new Flit(params.networkBytes)

  val access = IO(Flipped(new FarAccess))
  val macAddress = IO(Input(UInt(48.W)))
  val interrupt = IO(Output(Bool()))

  /** Requests and completions of the registers, which share the paths. */
  val registers = IO(Flipped(new Software))

  /** The send path. */
  val sendRequest = IO(Decoupled(new SendRequest(segments = true)))
  val sendCompletion = IO(Flipped(Decoupled(new Completion)))

  /** The receive path: frames for memory, and their destinations. */
  val arrived = IO(Input(Valid(new Arrival)))
  val arrivals = IO(Flipped(Decoupled(new Summed(flit))))
  val parts = IO(Decoupled(new Summed(flit)))
  val receiveRequest = IO(Decoupled(new ReceiveRequest))
  val receiveCompletion = IO(Flipped(Decoupled(new Completion)))

  /** There is room for eight more arrivals. */
  val roomy = IO(Output(Bool()))
  val memory = IO(new MemoryPort(VirtioNet.memoryPort(params.port)))

  /** A frame has been dropped because chains had no room. */
  val dropped = IO(Output(Bool()))

  /** The driver has agreed to request checksums in headers, and one has just requested an impossible one. */
  val sendChecksums = IO(Output(Bool()))
  val wrongHeader = IO(Input(Bool()))

  /** The driver has been notified of returned buffers. */
  val raised = IO(Output(Bool()))

  /** For each of [[SendRing.bins]], whether the number of buffers known and not returned is in it. */
  val sendRing = IO(Output(Vec(SendRing.bins.size, Bool())))

  /** A rule has been broken. */
  val broken = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val control = Module(new VirtioRegisters)
  private val readers = Seq.tabulate(Virtio.queues)(i => Module(new ChainReader(small, i == Virtio.receiveQueue)))
  private val writers = Seq.fill(Virtio.queues)(Module(new UsedWriter(small)))
  private val coalescers = Seq.fill(Virtio.queues)(Module(new NotificationCoalescer))
  private val arrivalQueue = Module(new SramQueue(new Arrival, Virtio.lengthEntries(params.bufferKib)))
  private val sending = Module(new SendSegments)
  private val gatherer = Module(new ChainGatherer)
  private val receiving = Module(new ReceiveSegments(params.networkBytes))
  private val underWay = Seq.fill(Virtio.queues)(Module(new Queue(new Part, Virtio.partsUnderWay)))
  private val arbiter = Module(new MemoryArbiter(small, 2 * Virtio.queues))

  private val agreement = control.agreement
  control.access <> access
  control.macAddress := macAddress
  interrupt := control.interrupt
  arbiter.ports.zip(readers.map(_.memory) ++ writers.map(_.memory)).foreach { case (shared, one) => shared <> one }
  memory <> arbiter.memory
  for ((reader, queue) <- readers.zipWithIndex) {
    reader.ring := agreement.rings(queue)
    reader.window := agreement.window
    reader.eventIndex := agreement.eventIndex
    reader.run := agreement.works && agreement.rings(queue).enabled
    reader.clear := control.clear
    reader.notified := control.notified(queue)
  }
  for (((writer, coalescer), queue) <- writers.zip(coalescers).zipWithIndex) {
    val setting = agreement.moderation(queue)
    writer.always := setting.always
    coalescer.setting := setting.when
    coalescer.used := writer.interrupt
    coalescer.clear := control.clear
    writer.ring := agreement.rings(queue)
    writer.eventIndex := agreement.eventIndex
    writer.clear := control.clear
  }

  // Frames to send: those of the registers pass only while no driver is active.
  private val sent = underWay(Virtio.sendQueue)
  sending.chain <> readers(Virtio.sendQueue).chain
  sending.segment <> readers(Virtio.sendQueue).segment
  sending.run := agreement.works
  private val bySoftware = !agreement.works && !sending.busy
  private val wished = Mux(bySoftware, registers.send.valid, sending.request.valid)
  sendRequest.valid := wished && sent.io.enq.ready
  sendRequest.bits := sending.request.bits
  when(bySoftware) {
    sendRequest.bits.address := registers.send.bits.address
    sendRequest.bits.length := registers.send.bits.length
    sendRequest.bits.checksum := registers.send.bits.checksum
    sendRequest.bits.more.foreach(_ := false.B)
    sendRequest.bits.header.foreach(_ := false.B)
  }
  registers.send.ready := bySoftware && sendRequest.fire
  sending.request.ready := !bySoftware && sendRequest.fire
  sent.io.enq.valid := sendRequest.fire
  sent.io.enq.bits := sending.part
  when(bySoftware) { sent.io.enq.bits.virtio := false.B }

  // Frames received.
  arrivalQueue.clear := false.B
  arrivalQueue.enq.valid := arrived.valid
  arrivalQueue.enq.bits := arrived.bits
  roomy := arrivalQueue.roomy
  gatherer.in <> readers(Virtio.receiveQueue).chain
  gatherer.mergeable := agreement.mergeable
  gatherer.clear := control.clear
  gatherer.wanted := receiving.wanted
  receiving.in <> arrivals
  receiving.arrival <> arrivalQueue.deq
  receiving.registers <> registers.receive
  receiving.chain <> gatherer.out
  receiving.gathered := gatherer.gathered
  receiving.tellsChecksums := agreement.receiveChecksums
  receiving.segment <> readers(Virtio.receiveQueue).segment
  receiving.run := agreement.works
  // The division of a frame and the packing of its parts take a cycle each.
  private val cut = SkidBuffer(receiving.out)
  parts.valid := cut.valid
  parts.bits := cut.bits.flit
  cut.ready := parts.ready
  receiveRequest.valid := cut.valid
  receiveRequest.bits := cut.bits.request
  underWay(Virtio.receiveQueue).io.enq <> receiving.part
  dropped := receiving.dropped

  // Complete parts, and with the last of a frame its buffer.
  // They wait here, for the send path begins a frame only when there is a place for its completion.
  private val completed = Seq(receiveCompletion, sendCompletion).map(Queue(_, 2))
  private val completions = completed.zip(Seq(registers.received, registers.sent))
  private val faults = completions.zipWithIndex.map { case ((complete, software), queue) =>
    val part = underWay(queue).io.deq
    val writer = writers(queue)
    val gives = part.bits.virtio && part.bits.last
    software.valid := complete.valid && part.valid && !part.bits.virtio
    software.bits := complete.bits
    writer.used.valid := complete.valid && part.valid && gives
    writer.used.bits := part.bits.used
    complete.ready := part.valid && Mux(part.bits.virtio, !gives || writer.used.ready, software.ready)
    part.ready := complete.fire
    Mux(complete.fire && part.bits.virtio && complete.bits.status =/= Status.ok, Fault.address, Fault.none)
  }
  raised := coalescers.map(_.interrupt).reduce(_ || _)
  control.used := raised
  sendChecksums := agreement.sendChecksums
  private val atSend = readers(Virtio.sendQueue).available - writers(Virtio.sendQueue).back
  sendRing := VecInit(SendRing.bins.map(_.holds(atSend)))
  private val wrong = RegNext(wrongHeader, false.B)
  private val inHeader = Mux(wrong, Fault.header, Fault.none)
  private val all = readers.map(_.fault) ++ writers.map(_.fault) ++ faults :+ inHeader
  control.fault := all.reduceLeft((before, one) => Mux(before =/= Fault.none, before, one))
  broken := control.broken

  private val nothing = underWay.map(queue => !queue.io.deq.valid).reduce(_ && _)
  private val still = readers.map(_.stopped).reduce(_ && _) && writers.map(_.stopped).reduce(_ && _)
  control.stopped := nothing && still && !sending.busy && !receiving.busy
  private val quiet = readers.map(_.idle).reduce(_ && _) && writers.map(_.idle).reduce(_ && _)
  private val completes = completed.map(_.fire).reduce(_ || _)
  private val told = coalescers.map(_.idle).reduce(_ && _)
  private val taken = gatherer.idle && receiving.idle && arrivalQueue.still
  idle := quiet && !completes && !wrong && told && control.idle && sending.idle && taken
}

/** Requests of the registers, and the completions that belong to them. */
class Software extends Bundle {
  val send = Decoupled(new SendRequest)
  val receive = Decoupled(new ReceiveRequest)
  val sent = Flipped(Decoupled(new Completion))
  val received = Flipped(Decoupled(new Completion))
}

/** The fill level of the ring of frames to send: a number of buffers from `least` to `most`. */
case class SendRing(least: Int, most: Int) {

  /** Of the event that counts the cycles. */
  val name: String = if (least == most) s"send_ring_$least" else s"send_ring_${least}_$most"

  /** Whether this number is in the range. */
  def holds(buffers: UInt): Bool = buffers >= least.U && buffers <= most.U
}

/** Ranges of numbers of buffers: each begins at a power of two. */
object SendRing {
  val bins: Seq[SendRing] = Seq(SendRing(0, 0)) ++
    Seq.tabulate(log2Ceil(Virtio.ringEntries))(i => SendRing(1 << i, (2 << i) - 1)) :+
    SendRing(Virtio.ringEntries, Virtio.ringEntries)
}

/** Shapes of a [[VirtioNet]]. */
object VirtioNet {

  /** The port through which rings are read and written, in addition to those of frames. */
  def memoryPort(port: MemoryPortParams): MemoryPortParams =
    MemoryArbiter.downstream(ringPort(port), 2 * Virtio.queues)

  private def ringPort(port: MemoryPortParams): MemoryPortParams = MemoryPortParams(port.bytes, 1)
}
