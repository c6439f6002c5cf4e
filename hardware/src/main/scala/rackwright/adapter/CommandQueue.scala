package rackwright.adapter

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, MmioPort, MmioResponse, RegisterMap}

/** Passes commands to a unit through registers, for cores without RoCC.
  *
  * Software writes the operands, then `command`; the command is sent when it is written, and the access is answered
  * when the unit has taken it. Reading `result` waits for the answer of a command that has one. README.md has the
  * register map.
  */
class CommandQueue extends Module {
  import CommandQueue.Register

  /** Accesses of the core. */
  val mmio = IO(Flipped(new MmioPort))

  /** The unit. */
  val command = IO(Flipped(new CommandPort))

  /** No access or answer is waiting here. */
  val idle = IO(Output(Bool()))

  private val rs1 = RegInit(0.U(64.W))
  private val rs2 = RegInit(0.U(64.W))
  private val answersDue = RegInit(0.U(CommandQueue.countBits.W))
  private val answers = Queue(command.response, CommandQueue.answers)
  private val responses = Wire(Decoupled(new MmioResponse))
  mmio.response <> Queue(responses, 2)

  private val access = mmio.request
  private def reads(register: Int): Bool = !access.bits.write && access.bits.address === register.U
  private def writes(register: Int): Bool = access.bits.write && access.bits.address === register.U

  private val sends = writes(Register.command.offset)
  private val takes = reads(Register.result) && answersDue =/= 0.U
  private val xd = Register.command("answers").of(access.bits.data).asBool
  // A command without room for its response is refused, so that unread responses cannot block the queue.
  private val refused = sends && xd && answersDue === CommandQueue.answers.U
  private val overrun = RegInit(false.B)
  private val accepted = MuxCase(true.B, Seq((sends && !refused) -> command.request.ready, takes -> answers.valid))

  responses.valid := access.valid && accepted
  access.ready := responses.ready && accepted
  command.request.valid := access.valid && sends && !refused && responses.ready
  command.request.bits.opcode := Register.command("opcode").of(access.bits.data)
  command.request.bits.funct := Register.command("funct").of(access.bits.data)
  command.request.bits.xd := xd
  command.request.bits.rd := 0.U
  command.request.bits.rs1 := rs1
  command.request.bits.rs2 := rs2
  answers.ready := access.fire && takes

  responses.bits.data := MuxCase(
    0.U,
    Seq(
      reads(Register.rs1) -> rs1,
      reads(Register.rs2) -> rs2,
      takes -> answers.bits.data,
      reads(Register.result) -> Fill(64, 1.U(1.W)),
      reads(Register.state.offset) -> Register.state.word("overrun" -> overrun, "due" -> answersDue)
    )
  )
  when(access.fire) {
    when(writes(Register.rs1)) { rs1 := access.bits.data }
    when(writes(Register.rs2)) { rs2 := access.bits.data }
    when(refused) { overrun := true.B }
    when(writes(Register.state.offset)) { overrun := false.B }
  }
  answersDue := answersDue + (command.request.fire && xd) - (access.fire && takes)
  // Responses that wait to be read do not change state.
  idle := !access.valid && !mmio.response.valid
}

/** The register map of a [[CommandQueue]]. */
object CommandQueue {

  /** Number of responses stored until software reads them. */
  val answers: Int = 4
  private val countBits = log2Ceil(answers + 1)

  /** The register map in `registers.json`. */
  val registers: RegisterMap = RegisterMap.read("adapter")

  /** Its registers. */
  object Register {
    val rs1: Int = registers("rs1").offset
    val rs2: Int = registers("rs2").offset
    val command: rackwright.port.Register = registers("command")
    val result: Int = registers("result").offset
    val state: rackwright.port.Register = registers("state")
  }
}
