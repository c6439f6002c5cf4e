package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.{MemoryArbiter, MemoryPort, MemoryPortParams}
import rackwright.nic.{Completion, FarAccess, Flit, Frame, ReceiveRequest, SendRequest, Summed}

/** A network device of virtio 1.2 in front of the send and the receive path. README.md is the contract. */
class VirtioNet(port: MemoryPortParams, bufferFlits: Int) extends Module {
  private val small = MemoryPortParams(port.bytes, 1)

  val access = IO(Flipped(new FarAccess))
  val macAddress = IO(Input(UInt(48.W)))
  val interrupt = IO(Output(Bool()))

  /** Requests and completions of the registers, which share the paths. */
  val registers = IO(Flipped(new Software))

  /** The send path. */
  val sendRequest = IO(Decoupled(new SendRequest(segments = true)))
  val sendCompletion = IO(Flipped(Decoupled(new Completion)))

  /** The receive path: frames on their way to memory, and where they go. */
  val arrived = IO(Input(Valid(UInt(Frame.lengthBits.W))))
  val arrivals = IO(Flipped(Decoupled(new Summed(new Flit))))
  val parts = IO(Decoupled(new Summed(new Flit)))
  val receiveRequest = IO(Decoupled(new ReceiveRequest))
  val receiveCompletion = IO(Flipped(Decoupled(new Completion)))

  /** There is room for the length of one more frame. */
  val roomy = IO(Output(Bool()))
  val memory = IO(new MemoryPort(VirtioNet.memoryPort(port)))

  /** A frame has been dropped for want of room in a chain. */
  val dropped = IO(Output(Bool()))

  /** A rule has been broken. */
  val broken = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val control = Module(new VirtioRegisters)
  private val readers = Seq.tabulate(Virtio.queues)(i => Module(new ChainReader(small, i == Virtio.receiveQueue)))
  private val writers = Seq.fill(Virtio.queues)(Module(new UsedWriter(small)))
  private val lengths =
    Module(new rackwright.memory.SramQueue(UInt(Frame.lengthBits.W), Virtio.lengthEntries(bufferFlits)))
  private val sending = Module(new SendSegments)
  private val receiving = Module(new ReceiveSegments)
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
  for ((writer, queue) <- writers.zipWithIndex) {
    writer.ring := agreement.rings(queue)
    writer.eventIndex := agreement.eventIndex
    writer.clear := control.clear
  }

  // Frames to send: those of the registers pass only while no driver is at work.
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
  }
  registers.send.ready := bySoftware && sendRequest.fire
  sending.request.ready := !bySoftware && sendRequest.fire
  sent.io.enq.valid := sendRequest.fire
  sent.io.enq.bits := sending.part
  when(bySoftware) { sent.io.enq.bits.virtio := false.B }

  // Frames received.
  lengths.clear := false.B
  lengths.enq.valid := arrived.valid
  lengths.enq.bits := arrived.bits
  roomy := lengths.roomy
  receiving.in <> arrivals
  receiving.length <> lengths.deq
  receiving.registers <> registers.receive
  receiving.chain <> readers(Virtio.receiveQueue).chain
  receiving.segment <> readers(Virtio.receiveQueue).segment
  receiving.run := agreement.works
  parts <> receiving.out
  receiveRequest <> receiving.request
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
  control.used := writers.map(_.interrupt).reduce(_ || _)
  private val all = readers.map(_.fault) ++ writers.map(_.fault) ++ faults
  control.fault := all.reduceLeft((before, one) => Mux(before =/= Fault.none, before, one))
  broken := control.broken

  private val nothing = underWay.map(queue => !queue.io.deq.valid).reduce(_ && _)
  private val still = readers.map(_.stopped).reduce(_ && _) && writers.map(_.stopped).reduce(_ && _)
  control.stopped := nothing && still && !sending.busy && !receiving.busy
  private val quiet = readers.map(_.idle).reduce(_ && _) && writers.map(_.idle).reduce(_ && _)
  private val completes = completed.map(_.fire).reduce(_ || _)
  idle := quiet && !completes && control.idle && sending.idle && receiving.idle && lengths.still
}

/** Requests of the registers, and the completions that belong to them. */
class Software extends Bundle {
  val send = Decoupled(new SendRequest)
  val receive = Decoupled(new ReceiveRequest)
  val sent = Flipped(Decoupled(new Completion))
  val received = Flipped(Decoupled(new Completion))
}

/** Shapes of a [[VirtioNet]]. */
object VirtioNet {

  /** The port through which rings are read and written, beside those of frames. */
  def memoryPort(port: MemoryPortParams): MemoryPortParams =
    MemoryArbiter.downstream(MemoryPortParams(port.bytes, 1), 2 * Virtio.queues)
}
