package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, MmioPort, MmioResponse, RegisterMap}

/** The engine of a tile: takes descriptors from a queue in memory, has the unit do what they ask for, one after the
  * other, and gives their endings to another queue. README.md is the contract.
  *
  * While the unit works, the next descriptor is read and the ending before is written.
  *
  * @param opcode
  *   of the unit's commands.
  */
class QueueEngine(opcode: Int) extends Module {
  import QueueEngine._

  val mmio = IO(Flipped(new MmioPort))
  val command = IO(Flipped(new CommandPort))
  val memory = IO(new MemoryPort(port))
  val idle = IO(Output(Bool()))

  /** In this cycle an element is taken, one is answered; the index of an empty queue has been looked at. */
  val taken = IO(Output(Bool()))
  val answered = IO(Output(Bool()))
  val looked = IO(Output(Bool()))

  private val isOpen = RegInit(false.B)
  private val closing = RegInit(false.B)
  private val problem = RegInit(Problem.none)
  private val incoming, outgoing = RegInit(0.U(64.W))

  private val taker = Module(new QueueTaker)
  private val giver = Module(new QueueGiver)
  private val runner = Module(new DescriptorRunner(opcode))
  private val arbiter = Module(new MemoryArbiter(LineAccess.port, 2))
  arbiter.ports(0) <> taker.memory
  arbiter.ports(1) <> giver.memory
  memory <> arbiter.memory
  command <> runner.command

  taker.header := incoming
  taker.go := isOpen
  taker.last := closing
  giver.header := outgoing
  giver.go := isOpen

  // The descriptor that the unit works on. What it ends with is nobody's when the engine has stopped meanwhile.
  private val busy = RegInit(false.B)
  private val descriptor = Reg(new Descriptor)
  runner.descriptor.valid := busy
  runner.descriptor.bits := descriptor
  runner.hold := isOpen && !giver.element.ready
  private val ends = runner.descriptor.fire
  giver.element.valid := ends
  giver.element.bits := runner.ending
  taker.element.ready := (!busy || ends) && isOpen
  when(taker.element.fire) {
    descriptor := taker.element.bits
    busy := true.B
  }.elsewhen(ends) { busy := false.B }

  private val stops = taker.problem.valid || giver.problem.valid
  private val still = !isOpen && taker.still && giver.still && !busy
  when(stops && isOpen) {
    problem := Mux(taker.problem.valid, taker.problem.bits, giver.problem.bits)
    isOpen := false.B
    closing := false.B
  }.elsewhen(closing && taker.drained && !taker.element.valid && !busy && giver.done) {
    isOpen := false.B
    closing := false.B
  }

  // Registers: each access is answered in the next cycle. One that writes waits until what has stopped is still.
  private val access = mmio.request
  private val answers = Module(new Queue(new MmioResponse, 2))
  mmio.response <> answers.io.deq
  private val waits = access.bits.write && !isOpen && !still
  access.ready := answers.io.enq.ready && !waits
  answers.io.enq.valid := access.valid && !waits
  answers.io.enq.bits.data := MuxLookup(access.bits.address, 0.U)(
    Seq(
      Register.control.U -> Mux(problem =/= Problem.none, problem.asUInt, isOpen.asUInt),
      Register.incoming.U -> incoming,
      Register.outgoing.U -> outgoing,
      Register.taken.U -> taker.index,
      Register.answered.U -> giver.index
    )
  )
  when(access.fire && access.bits.write) {
    val value = access.bits.data
    switch(access.bits.address) {
      is(Register.control.U) {
        when(isOpen) { closing := !value(0) }.otherwise {
          isOpen := value(0)
          problem := Problem.none
        }
      }
      is(Register.incoming.U) { when(!isOpen) { incoming := value(63, 6) ## 0.U(6.W) } }
      is(Register.outgoing.U) { when(!isOpen) { outgoing := value(63, 6) ## 0.U(6.W) } }
    }
  }

  taken := taker.taken
  answered := giver.wrote
  looked := taker.looked
  private val waitsForPlace = runner.over && !giver.element.ready
  private val sides = Mux(isOpen, taker.quiet && giver.quiet && (!busy || waitsForPlace), still)
  idle := sides && !access.valid && !answers.io.deq.valid && !(closing && taker.drained)
}

/** Registers of a [[QueueEngine]]. */
object QueueEngine {
  val port: MemoryPortParams = MemoryArbiter.downstream(LineAccess.port, 2)

  /** The register map, as `registers.json` has it. */
  val registers: RegisterMap = RegisterMap.read("queue")

  /** Byte offsets of the registers. */
  private object Register {
    val control: Int = registers("control").offset
    val incoming: Int = registers("incoming").offset
    val outgoing: Int = registers("outgoing").offset
    val taken: Int = registers("taken").offset
    val answered: Int = registers("answered").offset
  }
}
