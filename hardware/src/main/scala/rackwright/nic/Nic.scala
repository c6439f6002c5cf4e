package rackwright.nic

import chisel3._

import rackwright.contract.HardwareUnit

/** A network interface on the processor's memory system (Karandikar 2024, section 2.3). README.md is the contract. */
class Nic(params: Params) extends HardwareUnit {
  override def hertz: Long = Frame.hertz

  val mmio = mmioPort()
  val interrupt = interruptPort("completion")
  val read = memoryPort(params.port)
  val write = memoryPort(params.port)
  val networkOut = streamOutput(Frame.flitBytes).suggestName("network_out")
  val networkIn = streamInput(Frame.flitBytes).suggestName("network_in")
  val idle = idlePort()

  private val controller = Module(new Controller(params))
  private val send = Module(new SendPath(params))
  private val receive = Module(new ReceivePath(params))
  private val counters = Module(new Counters)

  controller.mmio <> mmio
  interrupt := controller.interrupt
  send.request <> controller.sendRequest
  controller.sendCompletion <> send.completion
  send.rate := controller.settings.rate
  send.rateWritten := controller.rateWritten
  read <> send.memory
  networkOut <> send.network
  receive.request <> controller.receiveRequest
  controller.receiveCompletion <> receive.completion
  receive.checksum := controller.settings.receiveChecksum
  write <> receive.memory
  receive.network <> networkIn
  idle := controller.idle && send.idle && receive.idle

  private val completed = receive.completion.fire
  private val amounts = Seq(
    (send.sent.valid && send.sent.bits.last).asUInt,
    Mux(send.sent.valid, send.sent.bits.count, 0.U),
    completed.asUInt,
    receive.bytes,
    receive.droppedFull.asUInt,
    receive.droppedLength.asUInt,
    controller.refused.asUInt
  )
  counters.amounts.zip(amounts).foreach { case (counted, amount) => counted := amount }
  controller.counters := counters.values
  Counters.names.zip(amounts).foreach { case (name, amount) => event(name, amount) }
  event("send_stall", send.stall)
  event("send_limited", send.limited)
  event("receive_stall", receive.stall)
}
