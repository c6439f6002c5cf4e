package rackwright.nic.control

import chisel3._
import chisel3.util._

import rackwright.nic.port.{Completion, FarAccess, Params, ReceiveRequest, Registers, SendRequest}
import rackwright.port.MmioPort
import rackwright.stream.HeadQueue

/** The registers, the four queues behind them, and the interrupt line. */
class Controller(params: Params) extends Module {
  private val entries = params.queueEntries
  private val countBits = log2Ceil(entries + 1)

  val mmio = IO(Flipped(new MmioPort))
  val sendRequest = IO(Decoupled(new SendRequest))
  val receiveRequest = IO(Decoupled(new ReceiveRequest))
  val sendCompletion = IO(Flipped(Decoupled(new Completion)))
  val receiveCompletion = IO(Flipped(Decoupled(new Completion)))
  val settings = IO(Output(new Settings))

  /** The rate has just been written. */
  val rateWritten = IO(Output(Bool()))
  val counters = IO(Input(Vec(Counters.names.size, UInt(64.W))))

  /** A request to a full queue, which is lost. */
  val refused = IO(Output(Bool()))
  val interrupt = IO(Output(Bool()))

  /** Accesses to registers of a front end, if there is one. */
  val far = Option.when(params.virtio)(IO(new FarAccess))
  val idle = IO(Output(Bool()))

  private val registers = Module(new RegisterFile(params.virtio))
  private val sends = Module(new Queue(new SendRequest, entries))
  private val receives = Module(new HeadQueue(new ReceiveRequest, entries))
  private val sent = Module(new Queue(new Completion, entries))
  private val received = Module(new Queue(new Completion, entries))
  private val moderation = Module(new InterruptModeration(countBits + 1))

  mmio <> registers.mmio
  far.zip(registers.far).foreach { case (out, in) => out <> in }
  registers.counters := counters
  sendRequest <> sends.io.deq
  receiveRequest <> receives.out
  sent.io.enq <> sendCompletion
  received.io.enq <> receiveCompletion
  sends.io.enq <> registers.sendRequest
  receives.in <> registers.receiveRequest
  registers.sendCompletion <> sent.io.deq
  registers.receiveCompletion <> received.io.deq
  registers.counts := Registers.counts.word(
    "received" -> received.io.count,
    "sent" -> sent.io.count,
    "receive_places" -> (entries.U - receives.count),
    "send_places" -> (entries.U - sends.io.count)
  )
  settings := registers.settings
  rateWritten := registers.rateWritten
  refused := registers.refused

  private def waiting(queue: Queue[Completion], enabled: Bool): UInt = Mux(enabled, queue.io.count, 0.U)
  moderation.setting := settings.moderation
  moderation.waiting := waiting(sent, settings.interruptEnable(0)) +& waiting(received, settings.interruptEnable(1))
  interrupt := moderation.interrupt
  idle := registers.idle && moderation.idle && receives.settled
}
