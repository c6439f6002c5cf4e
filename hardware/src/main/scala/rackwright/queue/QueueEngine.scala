package rackwright.queue

import chisel3._

import rackwright.access.MemoryArbiter
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, MmioPort}

/** The engine of a tile: takes descriptors from a queue in memory, lets the unit execute them, one after the other, and
  * writes their results to another queue: endings for a program, or descriptors for the next unit of a chain, by the
  * elements of that queue. README.md is the contract.
  *
  * While the unit works, the next descriptor is read and the ending before is written.
  *
  * @param opcode
  *   of the unit's commands.
  */
class QueueEngine(opcode: Int) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val command = IO(Flipped(new CommandPort))
  val memory = IO(new MemoryPort(QueueEngine.port))
  val idle = IO(Output(Bool()))

  /** In this cycle an element is taken, one is completed; the index of an empty queue has been read. */
  val taken = IO(Output(Bool()))
  val answered = IO(Output(Bool()))
  val looked = IO(Output(Bool()))

  private val control = Module(new QueueControl)
  control.sent := false.B
  private val taker = Module(new QueueTaker(Descriptor.bytes, Seq(Descriptor.shared)))
  private val giver = Module(new QueueGiver(Ending.bytes, QueueEngine.outgoing))
  private val arbiter = Module(new MemoryArbiter(LineAccess.port, 2))
  arbiter.ports(0) <> taker.memory
  arbiter.ports(1) <> giver.memory
  memory <> arbiter.memory
  control.mmio <> mmio

  private val isOpen = control.isOpen
  taker.header := control.incoming
  taker.go := isOpen
  taker.last := control.closing
  giver.header := control.outgoing
  giver.go := isOpen

  private val work = new DescriptorWork(opcode, isOpen, giver)
  private val busy = work.busy
  QueueControl.join(opcode, control.setting, work.command, command)
  taker.element.ready := (!busy || work.ends) && isOpen
  when(taker.element.fire) { work.begin(taker.element.bits.asTypeOf(new Descriptor)) }

  control.stops.valid := taker.problem.valid || giver.problem.valid
  control.stops.bits := Mux(taker.problem.valid, taker.problem.bits, giver.problem.bits)
  control.finished := taker.drained && !taker.element.valid && !busy && giver.done
  control.still := !isOpen && taker.still && giver.still && !busy
  control.taken := taker.index
  control.answered := giver.index

  taken := taker.taken
  answered := giver.wrote
  looked := taker.looked
  private val sides = Mux(isOpen, taker.quiet && giver.quiet && (!busy || work.waitsForPlace), control.still)
  idle := sides && control.idle && !(control.closing && taker.drained)
}

object QueueEngine {

  /** Kinds of outgoing queues beside one of endings. */
  private val outgoing = Seq(
    QueueKind(isShared = true, Ending.bytes),
    QueueKind(isShared = false, Descriptor.bytes),
    Descriptor.shared
  )

  val port: MemoryPortParams = MemoryArbiter.downstream(LineAccess.port, 2)
}
