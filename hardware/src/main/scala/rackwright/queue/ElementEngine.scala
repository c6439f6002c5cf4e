package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.port.{MemoryPort, MemoryPortParams, MmioPort}

/** The engine of a tile whose elements are words of packets: passes those of a queue in memory to a service, one after
  * the other, and the service's output to another queue. README.md is the contract.
  */
class ElementEngine extends Module {
  val mmio = IO(Flipped(new MmioPort))

  /** Headers and indices of the queues; their elements. */
  val memory = IO(new MemoryPort(ElementEngine.port))
  val elements = IO(new MemoryPort(ElementEngine.lines))

  /** To and from the service. */
  val service = IO(new ServicePort)
  val idle = IO(Output(Bool()))

  /** A sleeping program is to wake. */
  val interrupt = IO(Output(Bool()))

  /** Elements taken, elements written, reads of the index of an empty queue in this cycle. */
  val taken = IO(Output(UInt(4.W)))
  val answered = IO(Output(UInt(4.W)))
  val looked = IO(Output(Bool()))

  private val control = Module(new QueueControl)
  private val taker = Module(new ElementTaker)
  private val giver = Module(new ElementGiver)
  // Addresses of buffers, which are taken only when received packets become descriptors.
  private val bufferTaker = Module(new ElementTaker)
  private val bufferSplitter = Module(new ElementSplitter)
  private val splitter = Module(new ElementSplitter)
  private val gatherer = Module(new ElementGatherer)
  private val indexPorts = Seq(
    taker.memory,
    giver.memory,
    bufferTaker.memory,
    taker.releases,
    giver.publishes,
    bufferTaker.releases
  )
  private val indexArbiter = Module(new MemoryArbiter(LineAccess.port, indexPorts.size))
  indexArbiter.ports.zip(indexPorts).foreach { case (shared, own) => shared <> own }
  memory <> indexArbiter.memory
  private val arbiter = Module(new MemoryArbiter(LineMoves.port, 3))
  arbiter.ports(0) <> taker.lines
  arbiter.ports(1) <> giver.lines
  arbiter.ports(2) <> bufferTaker.lines
  elements <> arbiter.memory
  control.mmio <> mmio

  private val isOpen = control.isOpen
  taker.header := control.incoming
  taker.go := isOpen
  taker.last := control.closing
  giver.header := control.outgoing
  giver.go := isOpen
  bufferTaker.header := control.buffers
  bufferTaker.go := isOpen && control.form.received
  bufferTaker.last := false.B
  bufferSplitter.in <> bufferTaker.element
  bufferSplitter.clear := !isOpen
  bufferSplitter.both := false.B
  service.buffer.valid := bufferSplitter.out.valid
  service.buffer.bits := bufferSplitter.out.bits.first
  bufferSplitter.out.ready := service.buffer.ready
  service.form := control.form
  service.peer := control.peer
  control.sent := service.sent
  service.setting <> control.setting

  // When it has stopped, elements in transit are dropped.
  service.abort := !isOpen
  splitter.in <> taker.element
  splitter.in.valid := taker.element.valid && isOpen
  taker.element.ready := splitter.in.ready && isOpen
  splitter.clear := !isOpen
  service.in <> splitter.out
  splitter.both := service.inBoth
  gatherer.in <> service.out
  service.out.ready := gatherer.in.ready || !isOpen
  gatherer.in.valid := service.out.valid && isOpen
  gatherer.clear := !isOpen
  service.outBoth := gatherer.both
  giver.element <> gatherer.out
  gatherer.takes := giver.takes

  private val empty = splitter.empty && gatherer.empty
  private val sides = Seq(taker, giver, bufferTaker)
  control.stops.valid := sides.map(_.problem.valid).reduce(_ || _) || service.wrong
  control.stops.bits := MuxCase(Problem.incoming, sides.map(side => side.problem.valid -> side.problem.bits))
  control.finished := taker.drained && !taker.element.valid && empty && service.quiet && giver.done
  control.still := !isOpen && sides.map(_.still).reduce(_ && _) && service.quiet
  control.taken := taker.index
  control.answered := giver.index
  control.released := taker.stored
  control.published := giver.stored
  interrupt := control.interrupt

  taken := taker.taken
  answered := giver.wrote
  looked := taker.looked
  private val rests = sides.map(_.quiet).reduce(_ && _) && !(control.closing && taker.drained)
  idle := Mux(isOpen, rests, control.still) && control.idle && empty && service.quiet && !service.out.valid
}

object ElementEngine {

  /** Of an element. */
  val bytes: Int = 8

  /** Shapes of the ports for indices and for elements. */
  val port: MemoryPortParams = MemoryArbiter.downstream(LineAccess.port, 6)
  val lines: MemoryPortParams = MemoryArbiter.downstream(LineMoves.port, 3)
}

/** A service as its engine sees it. */
class ServicePort extends Bundle {

  /** Words of packets. With `inBoth` and `outBoth`, both of two are taken, and otherwise the first. */
  val in = Decoupled(new WordPair)
  val out = Flipped(Decoupled(new PacketWord))
  val inBoth = Input(Bool())
  val outBoth = Output(Bool())

  /** Addresses of buffers in which received packets are stored. */
  val buffer = Decoupled(UInt(64.W))

  /** The registers of these names; settings of the unit. */
  val peer = Output(UInt(64.W))
  val form = Output(new PacketForm)
  val setting = Decoupled(new UnitSetting)

  /** All data of a packet has been read. */
  val sent = Input(Bool())

  /** The engine is closed: a packet in progress has no end. */
  val abort = Output(Bool())

  /** The service is inactive until a word arrives. */
  val quiet = Input(Bool())

  /** The word that is taken in this cycle is no number of bytes that a packet may have. */
  val wrong = Input(Bool())
}
