package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.access.translation.{PageWalker, TranslationFault}
import rackwright.port.{CommandPort, MemoryPort, TranslatedCommandPort, TranslationContext}

/** The engine of a tile that several processes use, each by its virtual addresses: as [[QueueEngine]], with endpoints
  * in place of registers. README.md is the contract.
  *
  * An access that is refused loses nothing: the endpoint stops, and continues when its process has provided the page.
  * For this, a descriptor is read only when the one before is answered.
  *
  * @param opcode
  *   of the unit's commands.
  */
class ContextEngine(opcode: Int) extends Module {
  val outer = IO(new TranslatedCommandPort)
  val command = IO(Flipped(new CommandPort))

  /** Queues, by virtual addresses of `context`. */
  val memory = IO(new MemoryPort(QueueEngine.port))
  val context = IO(Output(new TranslationContext))
  val barred, renew, forget = IO(Output(Bool()))

  /** No queue is open: refused pages may be looked up again. */
  val closed = IO(Output(Bool()))

  /** The engine and the unit are refused an access. */
  val queueFault, unitFault = IO(Flipped(Valid(new TranslationFault)))

  /** Nothing of the unit or of its translations is in progress. */
  val unitStill = IO(Input(Bool()))

  /** Reads of page tables. */
  val probe = IO(new MemoryPort(PageWalker.port))
  val idle = IO(Output(Bool()))

  /** A process that sleeps is to wake. */
  val interrupt = IO(Output(Bool()))
  val taken, answered, looked = IO(Output(Bool()))

  private val table = Module(new EndpointTable(ContextEngine.endpoints))
  private val taker = Module(new QueueTaker(Descriptor.bytes, repeats = true))
  private val giver =
    Module(new QueueGiver(Ending.bytes, Seq(QueueKind(isShared = false, Descriptor.bytes)), repeats = true))
  private val arbiter = Module(new MemoryArbiter(LineAccess.port, 2))
  arbiter.ports(0) <> taker.memory
  arbiter.ports(1) <> giver.memory
  memory <> arbiter.memory
  table.outer <> outer
  probe <> table.memory
  context := table.context
  barred := table.barred
  renew := table.renew
  forget := table.forget

  private val go = table.go
  taker.header := table.incoming
  taker.go := go
  // A watch would be known to wait only after memory has had time to answer it: while others wait, indices are read.
  taker.last := table.closing || table.others
  giver.once.get := table.others
  table.spent := taker.drained || giver.rested.get
  taker.forget.get := table.forget
  giver.header := table.outgoing
  giver.go := go
  giver.forget.get := table.forget
  giver.restore.get := table.restore
  table.left := giver.left.get
  table.advanced := taker.advanced.get || giver.advanced.get
  interrupt := table.interrupt

  private val opened = RegInit(false.B)
  private val firstFault, ownFault = Reg(Valid(new TranslationFault))
  private val work = new DescriptorWork(new DescriptorRunner(opcode), go, giver, Some(firstFault))
  command <> work.command
  private val served = RegInit(0.U(log2Ceil(ContextEngine.turn + 1).W))
  private val stopped = RegInit(false.B)
  when(!go) { stopped := false.B }.elsewhen(table.stops.valid) { stopped := true.B }
  private val isOver = table.others && served === ContextEngine.turn.U
  taker.hold.get := work.busy || !giver.done || stopped || isOver
  taker.element.ready := !work.busy && go
  when(taker.element.fire) {
    work.begin(taker.element.bits.asTypeOf(new Descriptor))
    firstFault.valid := false.B
    when(!isOver) { served := served + 1.U }
  }
  when(!go) { served := 0.U }
  when(unitFault.valid && !firstFault.valid) { firstFault := unitFault }
  opened := go
  when(go && !opened) { ownFault.valid := false.B }
  when(queueFault.valid && !ownFault.valid) { ownFault := queueFault }

  private val rests = taker.quiet && giver.quiet && !taker.element.valid
  table.between := rests && !work.busy
  table.finished := table.closing && taker.drained && giver.done
  table.stops.valid := taker.problem.valid || giver.problem.valid
  table.stops.bits := Mux(taker.problem.valid, taker.problem.bits, giver.problem.bits)
  table.fault := ownFault
  closed := !go && taker.still && giver.still
  table.still := closed && !work.busy && unitStill

  taken := taker.taken
  answered := giver.wrote
  looked := taker.looked
  idle := table.idle && Mux(go, rests && (!work.busy || work.waitsForPlace), closed && !work.busy)
}

object ContextEngine {

  /** Number of processes' pairs of queues. */
  val endpoints: Int = 16

  /** Descriptors of an endpoint after which others have their turn. */
  private val turn = 16
}
