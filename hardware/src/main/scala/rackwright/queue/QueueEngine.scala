package rackwright.queue

import chisel3._

import rackwright.access.MemoryArbiter
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, MmioPort, Status}

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
  private val runner = Module(new DescriptorRunner(opcode))
  private val arbiter = Module(new MemoryArbiter(LineAccess.port, 2))
  arbiter.ports(0) <> taker.memory
  arbiter.ports(1) <> giver.memory
  memory <> arbiter.memory
  control.mmio <> mmio
  QueueControl.join(opcode, control.setting, runner.command, command)

  private val isOpen = control.isOpen
  taker.header := control.incoming
  taker.go := isOpen
  taker.last := control.closing
  giver.header := control.outgoing
  giver.go := isOpen

  // The descriptor that the unit works on. Its result is dropped if the engine has stopped meanwhile.
  private val busy = RegInit(false.B)
  private val descriptor = Reg(new Descriptor)
  // What a unit before has failed to make is passed on.
  private val failed = descriptor.status =/= Status.ok
  private val held = isOpen && !giver.element.ready
  runner.descriptor.valid := busy && !failed
  runner.descriptor.bits := descriptor
  runner.hold := held
  private val ends = busy && failed && !held || runner.descriptor.fire
  private val ending = WireDefault(runner.ending)
  when(failed) {
    ending := 0.U.asTypeOf(ending)
    ending.tag := descriptor.tag
    ending.status := descriptor.status
  }
  giver.element.valid := ends
  giver.element.bits.data := Mux(giver.wide, QueueEngine.following(descriptor, ending).asUInt, ending.asUInt)
  giver.element.bits.count := 1.U
  taker.element.ready := (!busy || ends) && isOpen
  when(taker.element.fire) {
    descriptor := taker.element.bits.data.asTypeOf(new Descriptor)
    busy := true.B
  }.elsewhen(ends) { busy := false.B }

  control.stops.valid := taker.problem.valid || giver.problem.valid
  control.stops.bits := Mux(taker.problem.valid, taker.problem.bits, giver.problem.bits)
  control.finished := taker.drained && !taker.element.valid && !busy && giver.done
  control.still := !isOpen && taker.still && giver.still && !busy
  control.taken := taker.index
  control.answered := giver.index

  taken := taker.taken
  answered := giver.wrote
  looked := taker.looked
  private val waitsForPlace = (failed || runner.over) && !giver.element.ready
  private val sides = Mux(isOpen, taker.quiet && giver.quiet && (!busy || waitsForPlace), control.still)
  idle := sides && control.idle && !(control.closing && taker.drained)
}

object QueueEngine {

  /** Kinds of outgoing queues beside one of endings. */
  private val outgoing = Seq(
    QueueKind(isShared = true, Ending.bytes),
    QueueKind(isShared = false, Descriptor.bytes),
    Descriptor.shared
  )

  /** The descriptor for the next unit of a chain: its input is the output of this one. */
  private def following(descriptor: Descriptor, ending: Ending): Descriptor = {
    val next = WireDefault(0.U.asTypeOf(new Descriptor))
    next.source := descriptor.destination
    next.sourceBytes := ending.outputBytes
    next.destination := Mux(descriptor.spare === 0.U, descriptor.source, descriptor.spare)
    next.capacity := descriptor.capacity
    next.tag := descriptor.tag
    next.status := ending.status
    next
  }

  val port: MemoryPortParams = MemoryArbiter.downstream(LineAccess.port, 2)
}
