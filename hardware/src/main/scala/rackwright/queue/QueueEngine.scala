package rackwright.queue

import chisel3._

import rackwright.access.MemoryArbiter
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, MmioPort}

/** The engine of a tile: takes descriptors from a queue in memory, lets the unit execute them, one after the other, and
  * writes their results to another queue. README.md is the contract.
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
  private val taker = Module(new QueueTaker(Descriptor.bytes, Some(Descriptor.sharedBytes)))
  private val giver = Module(new QueueGiver(Ending.bytes, Some(Ending.bytes)))
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
  runner.descriptor.valid := busy
  runner.descriptor.bits := descriptor
  runner.hold := isOpen && !giver.element.ready
  private val ends = runner.descriptor.fire
  giver.element.valid := ends
  giver.element.bits.data := runner.ending.asUInt
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
  private val waitsForPlace = runner.over && !giver.element.ready
  private val sides = Mux(isOpen, taker.quiet && giver.quiet && (!busy || waitsForPlace), control.still)
  idle := sides && control.idle && !(control.closing && taker.drained)
}

/** Its shape. */
object QueueEngine {
  val port: MemoryPortParams = MemoryArbiter.downstream(LineAccess.port, 2)
}
