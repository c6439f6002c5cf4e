package rackwright.operation

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.port.{Command, CommandResponse, UnitCommand}
import rackwright.stream.StreamRange

/** The actions at the end of an operation, in addition to those of the unit. */
class CompletionTicket extends Bundle {

  /** Address of the completion flag, or 0. */
  val flag = UInt(64.W)

  /** Address of the completion record, or 0. */
  val record = UInt(64.W)

  /** The operation is not passed to the unit; it ends with `access_fault`. */
  val refused = Bool()
}

/** An operation with its ticket. */
class StartedOperation(settings: Seq[Setting]) extends Bundle {
  val operation = new Operation(settings)
  val ticket = new CompletionTicket
}

/** The results of operations that have ended. */
class CompletionReport extends Bundle {

  /** Operations since reset. */
  val completed = UInt(64.W)

  /** The latest of them. */
  val last = new OperationResult
}

/** Decodes one command per cycle and collects the settings for the next start.
  *
  * @param opcode
  *   see [[CommandRouter]].
  * @param settings
  *   see [[CommandRouter]].
  * @param streaming
  *   see [[CommandRouter]].
  */
class CommandDecoder(opcode: Int, settings: Seq[Setting], streaming: Boolean) extends Module {
  require(opcode >= 0 && opcode <= 3, s"a RoCC opcode is custom-0 to custom-3, not $opcode")
  require(settings.map(_.funct).distinct.size == settings.size, "two settings share a funct")

  /** Commands of the core. */
  val request = IO(Flipped(Decoupled(new Command)))

  /** Responses to those with `xd`. */
  val response = IO(Decoupled(new CommandResponse))

  /** One per start. */
  val started = IO(Decoupled(new StartedOperation(settings)))

  /** The values for responses to queries. */
  val report = IO(Input(new CompletionReport))

  /** Every operation started has completed. */
  val quiet = IO(Output(Bool()))

  /** As in [[CommandRouter]]; a started operation continues from here. */
  val extension = Option.when(streaming)(IO(Decoupled(new InputExtension)))
  val written = Option.when(streaming)(IO(Input(UInt(64.W))))
  val taken = Option.when(streaming)(IO(Input(Bool())))

  private val startCount = RegInit(0.U(64.W))
  private val source = RegInit(0.U.asTypeOf(new StreamRange))
  private val limit = Reg(UInt(64.W))
  private val record = RegInit(0.U(64.W))
  private val limited = RegInit(false.B)
  private val values = settings.map(s => s -> RegInit(s.default.U(s.width.W)))

  private val bits = request.bits
  private val mine = bits.opcode === opcode.U
  private def is(command: UnitCommand): Bool = mine && bits.funct === command.funct.U

  quiet := startCount === report.completed
  private val accepted = MuxCase(
    true.B,
    Seq(
      is(StreamCommands.destinationAndStart) -> started.ready,
      is(StreamCommands.checkCompletion) -> quiet
    ) ++ streamed
  )
  request.ready := accepted && (!bits.xd || response.ready)
  response.valid := request.valid && accepted && bits.xd
  response.bits.rd := bits.rd
  response.bits.data := answer

  /** Whether the commands for the operation that was started last can be executed, or are too late. */
  private def streamed: Seq[(Bool, Bool)] = extension.toSeq.flatMap { extension =>
    val waiting = RegInit(0.U(CommandDecoder.waitingBits.W))
    waiting := waiting + started.fire - taken.get
    val known = waiting === 0.U
    extension.valid := request.valid && is(StreamCommands.extend) && !quiet && known && (!bits.xd || response.ready)
    extension.bits.bytes := bits.rs1
    extension.bits.last := bits.rs2(0)
    Seq(is(StreamCommands.extend) -> (quiet || (known && extension.ready)), is(StreamCommands.written) -> known)
  }

  private def answer: UInt = MuxCase(
    Fill(64, 1.U(1.W)),
    Seq(
      is(StreamCommands.checkCompletion) -> report.completed,
      is(StreamCommands.status) -> report.last.status,
      is(StreamCommands.outputBytes) -> report.last.outputBytes,
      is(StreamCommands.inputOffset) -> report.last.inputOffset,
      is(StreamCommands.version) -> StreamCommands.currentVersion.U
    ) ++ written.map(is(StreamCommands.written) -> _)
  )

  started.valid := request.valid && is(StreamCommands.destinationAndStart) && (!bits.xd || response.ready)
  describe(started.bits)

  private def describe(start: StartedOperation): Unit = {
    val destination = bits.rs1
    start.operation.source := source
    start.operation.destination := destination
    // Without a limit the capacity ends one byte before the address space does, so that it always fits 64 bits.
    start.operation.capacity := Mux(limited, limit, ~destination)
    start.operation.limited := limited
    values.foreach { case (setting, value) => start.operation.setting(setting.name) := value }
    val flagMisaligned = bits.rs2(2, 0).orR
    val recordMisaligned = record(3, 0).orR
    start.ticket.flag := Mux(flagMisaligned, 0.U, bits.rs2)
    start.ticket.record := Mux(recordMisaligned, 0.U, record)
    start.ticket.refused := flagMisaligned || recordMisaligned ||
      Ranges.wraps(source.address, source.length) || (limited && Ranges.wraps(destination, limit))
  }

  when(request.fire) {
    when(is(StreamCommands.source)) {
      source.address := bits.rs1
      source.length := bits.rs2
    }
    when(is(StreamCommands.limit)) {
      limit := bits.rs1
      record := bits.rs2
      limited := true.B
    }
    when(is(StreamCommands.destinationAndStart)) {
      startCount := startCount + 1.U
      limited := false.B
      record := 0.U
    }
    for ((setting, value) <- values) {
      when(is(setting.command)) {
        val tooWide = (bits.rs1 >> setting.width).orR
        value := Mux(tooWide, Fill(setting.width, 1.U(1.W)), bits.rs1)
      }
    }
  }
}

/** Constants of the structure. */
object CommandDecoder {

  /** Bits of the number of operations that the unit has not taken. */
  val waitingBits: Int = 5
}
