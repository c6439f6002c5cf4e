package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.operation.StreamCommands
import rackwright.port.{CommandPort, MmioPort, MmioResponse, RegisterMap}

/** Registers of an engine: they open and close it, and contain its queues and the reason why it has stopped. */
class QueueControl extends Module {
  import QueueControl._

  val mmio = IO(Flipped(new MmioPort))

  /** The state for both sides of the engine. */
  val isOpen = IO(Output(Bool()))
  val closing = IO(Output(Bool()))
  val incoming, outgoing = IO(Output(UInt(64.W)))
  val peer = IO(Output(UInt(64.W)))
  val form = IO(Output(new PacketForm))
  val buffers = IO(Output(UInt(64.W)))

  /** All data of a packet has been read. */
  val sent = IO(Input(Bool()))

  /** In this cycle a side has stopped for good; all is done that was to be done before it closes. */
  val stops = IO(Flipped(Valid(Problem())))
  val finished = IO(Input(Bool()))

  /** No operation is in progress any more since it has closed. */
  val still = IO(Input(Bool()))
  val taken, answered = IO(Input(UInt(64.W)))

  /** The indices that memory has: of the elements that are published, and of the places that are released. */
  val published, released = IO(Flipped(Valid(UInt(QueueInterrupt.indexBits.W))))

  /** An interrupt is pending. */
  val interrupt = IO(Output(Bool()))

  /** A command of the unit that sets a value: its funct and its value. Taken while the engine is closed. */
  val setting = IO(Decoupled(new UnitSetting))

  /** No access is being answered. */
  val idle = IO(Output(Bool()))

  private val open = RegInit(false.B)
  private val closes = RegInit(false.B)
  private val problem = RegInit(Problem.none)
  private val incomingAt, outgoingAt, buffersAt, peerIs = RegInit(0.U(64.W))
  private val sentPackets = RegInit(0.U(32.W))
  when(sent) { sentPackets := sentPackets + 1.U }
  private val formIs = RegInit(0.U.asTypeOf(new PacketForm))
  isOpen := open
  closing := closes
  incoming := incomingAt
  outgoing := outgoingAt
  peer := peerIs
  form := formIs
  buffers := buffersAt

  private val closed = closes && finished
  when(stops.valid && open) {
    problem := stops.bits
    open := false.B
    closes := false.B
  }.elsewhen(closed) {
    open := false.B
    closes := false.B
  }

  private val sleepers = Module(new QueueInterrupt)
  sleepers.open := open
  sleepers.ends := stops.valid || closed
  sleepers.reached(QueueInterrupt.element) := published
  sleepers.reached(QueueInterrupt.room) := released
  interrupt := sleepers.line

  // Each access is answered in the next cycle. A write waits until a stopped engine is still.
  private val access = mmio.request
  private val answers = Module(new Queue(new MmioResponse, 2))
  mmio.response <> answers.io.deq
  private val sets = access.bits.write && settings.offsets.map(access.bits.address === _.U).reduce(_ || _)
  private val waits = access.bits.write && !open && !still || sets && !open && !setting.ready
  access.ready := answers.io.enq.ready && !waits
  answers.io.enq.valid := access.valid && !waits
  answers.io.enq.bits.data := MuxLookup(access.bits.address, 0.U)(
    Seq(
      Register.control.U -> Mux(problem =/= Problem.none, problem.asUInt, open.asUInt),
      Register.incoming.U -> incomingAt,
      Register.outgoing.U -> outgoingAt,
      Register.taken.U -> taken,
      Register.answered.U -> answered,
      Register.peer.U -> peerIs,
      Register.form.U -> formIs.asUInt,
      Register.buffers.U -> buffersAt,
      Register.sent.U -> sentPackets,
      Register.interruptEnable.U -> sleepers.enabled,
      Register.interruptPending.U -> sleepers.pending,
      Register.awaitedElement.U -> sleepers.awaited(QueueInterrupt.element),
      Register.awaitedRoom.U -> sleepers.awaited(QueueInterrupt.room)
    )
  )
  setting.valid := access.valid && sets && !open && still && answers.io.enq.ready
  setting.bits.funct := access.bits.address(6, 3)
  setting.bits.value := access.bits.data
  when(access.fire && access.bits.write) {
    val value = access.bits.data
    switch(access.bits.address) {
      is(Register.control.U) {
        when(open) { closes := !value(0) }.otherwise {
          open := value(0)
          problem := Problem.none
        }
      }
      is(Register.incoming.U) { when(!open) { incomingAt := value(63, 6) ## 0.U(6.W) } }
      is(Register.outgoing.U) { when(!open) { outgoingAt := value(63, 6) ## 0.U(6.W) } }
      is(Register.peer.U) { peerIs := value }
      is(Register.form.U) { when(!open) { formIs := value(2, 0).asTypeOf(formIs) } }
      is(Register.buffers.U) { when(!open) { buffersAt := value(63, 6) ## 0.U(6.W) } }
    }
  }
  private def written(register: Int): Valid[UInt] = {
    val value = Wire(Valid(UInt(QueueInterrupt.indexBits.W)))
    value.valid := access.fire && access.bits.write && access.bits.address === register.U
    value.bits := access.bits.data
    value
  }
  sleepers.enable := written(Register.interruptEnable)
  sleepers.acknowledge := written(Register.interruptPending)
  sleepers.await(QueueInterrupt.element) := written(Register.awaitedElement)
  sleepers.await(QueueInterrupt.room) := written(Register.awaitedRoom)
  idle := !access.valid && !answers.io.deq.valid && !sleepers.rises
}

/** Which packets are descriptors: two elements, the number of bytes and their address. Others may begin with the header
  * of a datagram: where they come from, or where they go.
  */
class PacketForm extends Bundle {
  val addressed = Bool()
  val received = Bool()
  val sent = Bool()
}

/** A command that sets a value of a unit. */
class UnitSetting extends Bundle {
  val funct = UInt(4.W)
  val value = UInt(64.W)
}

object QueueControl {

  /** The register map in `registers.json`. */
  val registers: RegisterMap = RegisterMap.read("queue")

  /** One for each command that sets a value, at eight times its funct within its range. */
  private val settings = registers("settings")
  require(settings.offsets.map(_ / 8 % 16) == StreamCommands.settings)

  /** Byte offsets of the registers. */
  private object Register {
    val control: Int = registers("control").offset
    val incoming: Int = registers("incoming").offset
    val outgoing: Int = registers("outgoing").offset
    val taken: Int = registers("taken").offset
    val answered: Int = registers("answered").offset
    val peer: Int = registers("peer").offset
    val form: Int = registers("form").offset
    val buffers: Int = registers("buffers").offset
    val sent: Int = registers("sent").offset
    val interruptEnable: Int = registers("interrupt_enable").offset
    val interruptPending: Int = registers("interrupt_pending").offset
    val awaitedElement: Int = registers("awaited_element").offset
    val awaitedRoom: Int = registers("awaited_room").offset
  }

  /** Passes settings to a unit and, in addition, the commands of `runner`. */
  def join(opcode: Int, setting: DecoupledIO[UnitSetting], runner: CommandPort, unit: CommandPort): Unit = {
    unit <> runner
    setting.ready := unit.request.ready && !runner.request.valid
    when(!runner.request.valid) {
      unit.request.valid := setting.valid
      unit.request.bits.opcode := opcode.U
      unit.request.bits.funct := setting.bits.funct
      unit.request.bits.rs1 := setting.bits.value
      unit.request.bits.rs2 := 0.U
      unit.request.bits.xd := false.B
    }
  }
}
