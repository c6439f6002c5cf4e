package rackwright.nic

import chisel3._

import rackwright.network.Flit
import rackwright.nic.control.{Controller, Counters}
import rackwright.nic.port.{Params, Registers}
import rackwright.nic.receive.ReceivePath
import rackwright.nic.send.SendPath
import rackwright.nic.virtio.{SendRing, VirtioMap, VirtioNet}
import rackwright.unit.{Attach, HardwareUnit}

/** A network interface on the processor's memory system (Karandikar 2024, section 2.3). README.md is the contract. */
class Nic(params: Params) extends HardwareUnit {
  override def hertz: Long = params.hertz
  override def attach: Seq[Attach] = Seq(Attach.Link)

  val mmio = mmioPort(if (params.virtio) Registers.map.and(VirtioMap.map) else Registers.map)
  val interrupt = interruptPort("completion")
  val read = memoryPort(params.port)
  val write = memoryPort(params.port)
  private val rings = Option.when(params.virtio)(memoryPort(VirtioNet.memoryPort(params.port)).suggestName("rings"))
  val networkOut = streamOutput(params.networkBytes).suggestName("network_out")
  val networkIn = streamInput(params.networkBytes).suggestName("network_in")
  val idle = idlePort()

  private val controller = Module(new Controller(params))
  private val send = Module(new SendPath(params))
  private val receive = Module(new ReceivePath(params))
  private val counters = Module(new Counters(Flit.countBits(params.networkBytes)))

  controller.mmio <> mmio
  send.rate := controller.settings.rate
  send.rateWritten := controller.rateWritten
  read <> send.memory
  networkOut <> send.network
  receive.checksum := controller.settings.receiveChecksum
  write <> receive.memory
  receive.network <> networkIn

  private val frontEnd = rings.map { memory =>
    val virtio = Module(new VirtioNet(params))
    memory <> virtio.memory
    virtio.access <> controller.far.get
    virtio.macAddress := controller.settings.macAddress
    virtio.registers.send <> controller.sendRequest
    virtio.registers.receive <> controller.receiveRequest
    controller.sendCompletion <> virtio.registers.sent
    controller.receiveCompletion <> virtio.registers.received
    send.request <> virtio.sendRequest
    virtio.sendCompletion <> send.completion
    receive.request <> virtio.receiveRequest
    virtio.receiveCompletion <> receive.completion
    val detour = receive.detour.get
    virtio.arrived := detour.arrival
    send.headers.get.checksums := virtio.sendChecksums
    virtio.wrongHeader := send.headers.get.wrong
    detour.room := virtio.roomy
    virtio.arrivals <> detour.frames
    detour.parts <> virtio.parts
    event("virtio_errors", virtio.broken)
    event("virtio_dropped", virtio.dropped)
    event("virtio_interrupts", virtio.raised)
    SendRing.bins.zip(virtio.sendRing).foreach { case (bin, now) => event(bin.name, now) }
    virtio
  }
  if (frontEnd.isEmpty) {
    send.request <> controller.sendRequest
    controller.sendCompletion <> send.completion
    receive.request <> controller.receiveRequest
    controller.receiveCompletion <> receive.completion
  }
  interrupt := frontEnd.map(_.interrupt).foldLeft(controller.interrupt)(_ || _)
  private val ownIdle = controller.idle && send.idle && receive.idle
  idle := frontEnd.map(_.idle).foldLeft(ownIdle)(_ && _)

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
