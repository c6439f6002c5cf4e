package rackwright.queue

import chisel3._

import rackwright.access.MemoryArbiter
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, MmioPort, UnitCommand}

/** The engine of a tile: takes descriptors from a queue in memory, lets the unit execute them, one after the other, and
  * writes their results to another queue: endings for a program, or descriptors for the next unit of a chain, by the
  * elements of that queue. README.md is the contract.
  *
  * While the unit works, the next descriptor is read and the ending before is written.
  *
  * @param opcode
  *   of the unit's commands.
  * @param single
  *   the commands of a unit each of whose elements is one of them, in place of an operation of a streaming unit; none
  *   listed if it takes all. Then the outgoing queue has endings alone.
  */
class QueueEngine(opcode: Int, single: Option[Seq[UnitCommand]] = None) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val command = IO(Flipped(new CommandPort))
  val memory = IO(new MemoryPort(QueueEngine.port))
  val idle = IO(Output(Bool()))

  /** A sleeping program is to wake. */
  val interrupt = IO(Output(Bool()))

  /** In this cycle an element is taken, one is completed; the index of an empty queue has been read. */
  val taken = IO(Output(Bool()))
  val answered = IO(Output(Bool()))
  val looked = IO(Output(Bool()))

  private val control = Module(new QueueControl)
  control.sent := false.B
  private val taker = Module(new QueueTaker(Descriptor.bytes, Seq(Descriptor.shared)))
  private val giver = Module(new QueueGiver(Ending.bytes, QueueEngine.outgoing(chains = single.isEmpty)))
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

  private def runner: UnitRunner = single.fold[UnitRunner](new DescriptorRunner(opcode))(new CommandRunner(opcode, _))
  private val work = new DescriptorWork(runner, isOpen, giver)
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
  control.released := taker.stored
  control.published := giver.stored
  interrupt := control.interrupt

  taken := taker.taken
  answered := giver.wrote
  looked := taker.looked
  private val sides = Mux(isOpen, taker.quiet && giver.quiet && (!busy || work.waitsForPlace), control.still)
  idle := sides && control.idle && !(control.closing && taker.drained)
}

object QueueEngine {

  /** Kinds of outgoing queues beside one of endings; those of descriptors for units that can be chained. */
  private def outgoing(chains: Boolean): Seq[QueueKind] =
    QueueKind(isShared = true, Ending.bytes) +:
      (if (chains) Seq(QueueKind(isShared = false, Descriptor.bytes), Descriptor.shared) else Nil)

  val port: MemoryPortParams = MemoryArbiter.downstream(LineAccess.port, 2)
}
