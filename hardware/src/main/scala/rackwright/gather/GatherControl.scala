package rackwright.gather

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, UnitCommand}

/** Executes commands in order: describes tables, starts sequences, and returns the pieces. */
class GatherControl(params: Params) extends Module {
  val command = IO(new CommandPort)
  val sequence = IO(Decoupled(new Sequence))
  val piece = IO(Flipped(Decoupled(new Piece)))
  val indexFault = IO(Input(Bool()))
  val prefetchFault = IO(Input(Bool()))

  /** Drops all sequences, until no responses of memory are pending. */
  val stop = IO(Output(Bool()))
  val stopped = IO(Input(Bool()))
  val idle = IO(Output(Bool()))

  /** The program waits for an element. */
  val stall = IO(Output(Bool()))

  private val request = Queue(command.request, params.commandQueue)
  private val bits = request.bits
  private def is(other: UnitCommand): Bool = bits.funct === other.funct.U
  private val answers = Module(new Queue(chiselTypeOf(command.response.bits), 2))
  command.response <> answers.io.deq

  private val table = RegInit(0.U.asTypeOf(new Table))
  private val shapeFits = RegInit(false.B)
  private val owed = RegInit(0.U((Params.countBits + 2).W))

  // After an index that could not be read, pieces that were promised do not arrive.
  private val dead = RegInit(false.B)
  when(indexFault) { dead := true.B }
  private val gives = piece.valid || dead || owed === 0.U

  private val begins = is(GatherCommands.gather) || is(GatherCommands.prefetch)
  private val asksNext = is(GatherCommands.next)
  stop := request.valid && is(GatherCommands.stop)
  private val obeyed = Mux(asksNext, gives, !stop || stopped) && (!bits.xd || answers.io.enq.ready)
  request.ready := obeyed
  private val done = request.valid && obeyed
  stall := request.valid && asksNext && !gives

  when(done && is(GatherCommands.table)) {
    val element = bits.rs2(7, 0)
    val index = bits.rs2(15, 8)
    val sizes = (0 to log2Ceil(Params.beatBytes)).map(shift => element === (1 << shift).U)
    table.base := bits.rs1
    table.elementShift := OHToUInt(sizes)
    table.wide := index === 8.U
    val aligned = (bits.rs1(4, 0) & (element - 1.U)(4, 0)) === 0.U
    shapeFits := sizes.reduce(_ || _) && (index === 4.U || index === 8.U) && aligned
  }

  private val countFits = bits.rs2 >> Params.countBits === 0.U
  private val fits = shapeFits && countFits
  sequence.valid := done && begins && fits && bits.rs2 =/= 0.U
  sequence.bits.table := table
  sequence.bits.address := bits.rs1
  sequence.bits.count := bits.rs2
  sequence.bits.drops := is(GatherCommands.prefetch)

  private val pieces = bits.rs2(Params.countBits - 1, 0) << table.pieceShift
  private val takes = done && asksNext && owed =/= 0.U && !dead
  piece.ready := takes
  when(sequence.fire && !sequence.bits.drops) { owed := owed + pieces }
    .elsewhen(takes) { owed := owed - 1.U }

  // The first problem is stored until it is queried.
  private val problem = RegInit(Problem.none)
  private val reported = MuxCase(
    Problem.none,
    Seq(
      (indexFault || prefetchFault || (takes && piece.bits.fault)) -> Problem.accessFault,
      (done && asksNext && owed === 0.U && !dead) -> Problem.missing,
      (done && begins && !(fits && sequence.ready)) -> Problem.unsupported
    )
  )
  when(done && is(GatherCommands.problem)) { problem := reported }
    .elsewhen(problem === Problem.none) { problem := reported }
  when(stop) {
    owed := 0.U
    dead := false.B
  }

  answers.io.enq.valid := done && bits.xd
  answers.io.enq.bits.rd := bits.rd
  answers.io.enq.bits.data := Mux(
    is(GatherCommands.problem),
    problem,
    Mux(takes, piece.bits.value, 0.U)
  )
  idle := (!request.valid || stall) && !answers.io.deq.valid
}
