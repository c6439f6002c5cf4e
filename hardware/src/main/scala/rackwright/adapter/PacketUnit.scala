package rackwright.adapter

import scala.collection.mutable

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, MmioPort, RegisterMap, StreamFlit}
import rackwright.queue._
import rackwright.unit._

/** A unit on a tile whose queues hold packets in elements of 8 bytes: one that reads and writes a memory, or `network`.
  *
  * Registers (`mmio`), an interrupt line, and two memory ports for each pair of queues are added, for indices and for
  * elements. Requests of the unit's own memory ports are for memory of the tile.
  *
  * @param mirror
  *   whether a station that returns frames is connected to the unit.
  */
class PacketUnit(build: => HardwareUnit, mirror: Boolean) extends HardwareUnit {
  import PacketUnit._

  private val unit = Module(build)
  override def hertz: Long = unit.hertz
  override def desiredName: String = unit.desiredName + "Packets" + (if (mirror) "Mirrored" else "")

  private val made = unit.madePorts
  private val unitIdle = made.collectFirst { case (inner: Bool, IdleDescription(_)) => inner }.getOrElse(refuse())
  private val idles = mutable.ArrayBuffer[Bool](unitIdle)
  private def refuse(): Nothing = throw UsageError(
    s"--command packets is for units with the commands of streams that read and write, and for network, unlike ${unit.desiredName}"
  )

  private def memoryNamed(wanted: String): (MemoryPort, MemoryPortParams) = made.collectFirst {
    case (inner: MemoryPort, MemoryDescription(`wanted`, params, _)) => (inner, params)
  }.getOrElse(refuse())
  private def streamsNamed(prefix: String): Seq[DecoupledIO[StreamFlit]] = made.collect {
    case (inner: DecoupledIO[_], StreamDescription(name, _, 8)) if name.startsWith(prefix) =>
      inner.asInstanceOf[DecoupledIO[StreamFlit]]
  }
  private val commands = made.collect {
    case (inner: CommandPort, CommandDescription(_, opcodes, known, false)) if QueuedUnit.suits(known.commands) =>
      (inner, opcodes.head)
  }
  private val streams = streamsNamed("stream_in_").zip(streamsNamed("stream_out_"))
  private def isPacket(port: MemoryDescription): Boolean = Seq("read", "write").contains(port.name)
  private val readsBack = made.exists { case (_, port: MemoryDescription) => port.intermediate; case _ => false }
  if (commands.isEmpty == streams.isEmpty || commands.size > 1 || readsBack) refuse()
  if (mirror && streamsNamed("network_").isEmpty) throw UsageError(s"${unit.desiredName} has no frames to send back")

  private val engines = Seq.fill(streams.size.max(1))(Module(new ElementEngine))
  private val own = made.collect { case (inner: MmioPort, MmioDescription(_, known, _, _)) => (inner, known) }
  private val decoder = Module(new RegisterSplit(engines.size, own.nonEmpty))
  mmioPort(registers(engines.size, own.map(_._2).headOption)).suggestName("mmio") <> decoder.mmio
  own.foreach { case (inner, _) => inner <> decoder.ports.last }
  for ((engine, i) <- engines.zipWithIndex) {
    engine.mmio <> decoder.ports(i)
    memoryPort(ElementEngine.port).suggestName(numbered("queues", i)) <> engine.memory
    memoryPort(ElementEngine.lines).suggestName(numbered("elements", i)) <> engine.elements
    idles += engine.idle
  }
  idles += decoder.idle

  private val refused = commands.map { case (command, opcode) =>
    val ((read, reads), (write, writes)) = (memoryNamed("read"), memoryNamed("write"))
    val runner = Module(new PacketRunner(opcode, reads, writes, mostBytes))
    runner.service <> engines.head.service
    runner.command <> command
    runner.reads <> read
    runner.writes <> write
    runner.refused
  }
  for ((((toUnit, fromUnit), engine), i) <- streams.zip(engines).zipWithIndex) {
    val datagrams = Module(new DatagramStreams(mostBytes))
    datagrams.service <> engine.service
    datagrams.toUnit <> toUnit
    datagrams.fromUnit <> fromUnit
    datagrams.unitIdle := unitIdle
    memoryPort(DatagramStreams.port).suggestName(numbered("data", i)) <> datagrams.memory
  }

  made.foreach {
    case (inner: MemoryPort, port: MemoryDescription) if !isPacket(port) =>
      memoryPort(port.params).suggestName(port.name) <> inner
    case (_: CommandPort | _: MemoryPort | _: MmioPort, _) =>
    case (_: Bool, IdleDescription(_)) =>
    case (inner: DecoupledIO[_], StreamDescription(name, outward, bytes)) if name.startsWith("network_") =>
      if (!mirror) (if (outward) streamOutput(bytes) else streamInput(bytes)).suggestName(name) <> inner
    case (_: DecoupledIO[_], StreamDescription(_, _, 8)) =>
    case (inner: UInt, EventDescription(name, _)) => event(name, inner)
    case (_, other) => throw UsageError(s"--command packets has nothing to join port ${other.name} to")
  }
  if (mirror) {
    val station = Module(new Mirror)
    station.in <> streamsNamed("network_out").head
    streamsNamed("network_in").head <> station.out
    idles += station.idle
  }
  interruptPort("queue") := engines.map(_.interrupt).reduce(_ || _)
  idlePort().suggestName("idle") := idles.reduce(_ && _)
  event("queue_taken", engines.map(_.taken).reduce(_ +& _))
  event("queue_answered", engines.map(_.answered).reduce(_ +& _))
  event("queue_looks", PopCount(engines.map(_.looked)))
  refused.foreach(event("packets_refused", _))
}

object PacketUnit {

  /** Of a packet. */
  val mostBytes: Int = 2048

  /** Size in bytes of the registers of a pair of queues, and the offset of the unit's own registers. */
  val stride: Int = 0x100
  val ownOffset: Int = 0x800

  /** Names of the first pair of queues are unchanged. */
  private def numbered(name: String, pair: Int): String = if (pair == 0) name else s"${name}_$pair"

  private def registers(pairs: Int, own: Option[RegisterMap]): RegisterMap = {
    val ofPairs = (0 until pairs).flatMap { i =>
      QueueControl.registers.registers.map { register =>
        register.copy(
          name = numbered(register.name, i),
          offset = register.offset + stride * i
        )
      }
    }
    RegisterMap(ofPairs ++ own.toSeq.flatMap(_.registers).map(register =>
      register.copy(offset = register.offset + ownOffset)
    ))
  }
}

/** Forwards each access to its registers; one access is in progress at a time. */
class RegisterSplit(pairs: Int, own: Boolean) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val ports = IO(Vec(pairs + (if (own) 1 else 0), new MmioPort))
  val idle = IO(Output(Bool()))

  private val access = mmio.request.bits
  private val isOwn = access.address >= PacketUnit.ownOffset.U
  private val number = access.address(10, 8)
  private val chosen = (0 until pairs).map(i => !isOwn && number === i.U) ++ Option.when(own)(isOwn)
  private val waits = RegInit(false.B)
  private val known = chosen.reduce(_ || _)
  // Unused addresses read as 0.
  private val nobody = RegInit(false.B)

  mmio.request.ready := !waits && !nobody && (!known || Mux1H(chosen, ports.map(_.request.ready)))
  mmio.response.valid := nobody || ports.map(_.response.valid).reduce(_ || _)
  mmio.response.bits.data := Mux(
    nobody,
    0.U,
    PriorityMux(ports.map(port => port.response.valid -> port.response.bits.data))
  )
  for ((port, mine) <- ports.zip(chosen)) {
    port.request.valid := mmio.request.valid && mine && !waits && !nobody
    port.request.bits := access
    port.request.bits.address := Mux(isOwn, access.address - PacketUnit.ownOffset.U, access.address(7, 0))
    port.response.ready := mmio.response.ready
  }
  when(mmio.request.fire) {
    waits := known
    nobody := !known
  }
  when(mmio.response.fire) {
    waits := false.B
    nobody := false.B
  }
  idle := !waits && !nobody && !mmio.request.valid
}
