package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.access.translation.{ContextGate, PageWalker, TranslationFault}
import rackwright.memory.RegisterFile
import rackwright.port._

/** A pair of queues of a process. */
class Endpoint extends Bundle {
  val state = EndpointState()

  /** To be released when all that was published has been answered. */
  val closing = Bool()
  val incoming, outgoing = UInt(64.W)
  val context = new TranslationContext

  /** The refused access after which it has stopped, as software reads it; 0 if there is none. */
  val fault = UInt(64.W)

  /** A result is left that is not published. */
  val holds = Bool()
}

/** The state of an endpoint; numbers as `look` answers them, those of a stop as in [[Problem]]. */
object EndpointState extends ChiselEnum {
  val free = Value(0.U)
  val open = Value(1.U)
  val incoming = Value(2.U)
  val outgoing = Value(3.U)
  val refused = Value(4.U)

  def of(problem: Problem.Type): EndpointState.Type = MuxLookup(problem, refused)(
    Seq(Problem.incoming -> incoming, Problem.outgoing -> outgoing)
  )
}

/** The endpoints of a tile that processes use: pairs of queues, each with the translation context of the process that
  * has opened it. One after the other, the engine serves those that are open. README.md is the contract.
  *
  * @param count
  *   number of endpoints.
  */
class EndpointTable(count: Int) extends Module {
  import EndpointTable.Phase

  /** Commands of processes. */
  val outer = IO(new TranslatedCommandPort)

  /** The queues that the engine serves, while `go`; these change only when it is `still`. */
  val go, closing = IO(Output(Bool()))
  val incoming, outgoing = IO(Output(UInt(64.W)))
  val context = IO(Output(new TranslationContext))

  /** The endpoint belongs to a process that has ended: no access is allowed. */
  val barred = IO(Output(Bool()))

  /** Other endpoints wait for their turn. */
  val others = IO(Output(Bool()))

  /** The unit is to be reset, before it works for another process; drops translations. */
  val renew, forget = IO(Output(Bool()))

  /** A result that is not published: of the endpoint that was served, and of the next one. */
  val left = IO(Flipped(Valid(UInt(512.W))))
  val restore = IO(Valid(Valid(UInt(512.W))))

  /** In this cycle a side has stopped; where the engine was refused an access in this turn, if it was. */
  val stops = IO(Flipped(Valid(Problem())))
  val fault = IO(Flipped(Valid(new TranslationFault)))

  /** In this cycle, memory has a further index of the endpoint that is served. */
  val advanced = IO(Input(Bool()))

  /** A process that sleeps is to wake. */
  val interrupt = IO(Output(Bool()))

  /** The engine rests between two descriptors, and has done all that was published before `closing`. */
  val between, finished = IO(Input(Bool()))

  /** A queue has been looked at for the last time in this turn. */
  val spent = IO(Input(Bool()))

  /** Nothing is in progress since `go` is low. */
  val still = IO(Input(Bool()))

  /** Reads of page tables. */
  val memory = IO(new MemoryPort(PageWalker.port))

  /** Nothing happens until a command arrives, or the engine continues. */
  val idle = IO(Output(Bool()))

  private val table = RegInit(VecInit(Seq.fill(count)(0.U.asTypeOf(new Endpoint))))
  private val results = RegisterFile(count, UInt(512.W))
  private val phase = RegInit(Phase.choose)
  private val current = RegInit(0.U(log2Ceil(count).W))
  private val entry = table(current)
  private val present = RegInit(0.U.asTypeOf(new TranslationContext))
  // Of the endpoint that is served: addresses of queues would otherwise begin at the table.
  private val incomingNow, outgoingNow = Reg(UInt(64.W))
  private val ended = RegInit(false.B)
  private val problem = RegInit(Problem.none)
  private val renewing = RegInit(0.U(log2Ceil(ContextGate.resetCycles + 1).W))
  private val resets = RegInit(false.B)

  private val ready = VecInit(table.map(_.state === EndpointState.open)).asUInt
  others := (ready & ~UIntToOH(current, count)).orR
  go := phase === Phase.serve
  closing := entry.closing
  incoming := incomingNow
  outgoing := outgoingNow
  context := present
  barred := ended
  renew := resets
  forget := outer.fence || renewing =/= 0.U

  // Served in turn.
  private val behind = ready & (Fill(count, 1.U(1.W)) << 1 << current)(count - 1, 0)
  private val next = PriorityEncoder(Mux(behind.orR, behind, ready))
  private val leaves = problem =/= Problem.none || ended || finished || others || spent
  restore.valid := phase === Phase.load
  restore.bits.valid := entry.holds
  restore.bits.bits := results.read(current)
  resets := phase === Phase.load && entry.context.satp =/= present.satp || renewing > 1.U
  when(renewing =/= 0.U) { renewing := renewing - 1.U }
  private val isFinished = RegEnable(finished, false.B, phase === Phase.serve)
  switch(phase) {
    is(Phase.choose) {
      ended := false.B
      problem := Problem.none
      when(ready.orR) {
        current := next
        phase := Phase.load
      }
    }
    is(Phase.load) {
      present := entry.context
      incomingNow := entry.incoming
      outgoingNow := entry.outgoing
      when(entry.context.satp =/= present.satp) { renewing := ContextGate.resetCycles.U }
      // It may have been released since it was chosen.
      phase := Mux(entry.state === EndpointState.open, Phase.renew, Phase.choose)
    }
    is(Phase.renew) { when(renewing === 0.U) { phase := Phase.serve } }
    is(Phase.serve) { when(between && leaves) { phase := Phase.leave } }
    is(Phase.leave) {
      when(still) {
        phase := Phase.choose
        entry.holds := left.valid
        results.write(current, left.bits)
        when(problem =/= Problem.none) {
          entry.state := EndpointState.of(problem)
          entry.fault := Mux(fault.valid, fault.bits.word, 0.U)
        }
        when(ended || problem === Problem.none && isFinished) { entry.state := EndpointState.free }
      }
    }
  }
  when(go && stops.valid && problem === Problem.none) { problem := stops.bits }

  // By endpoint: its process is to be woken at the next change of an index or when it stops; it is to wake.
  private val awaited, pending = RegInit(0.U(count.W))
  private val changes = go && advanced || phase === Phase.leave && still && problem =/= Problem.none

  // Commands, one at a time; those for endpoints of other processes find them free.
  private val request = outer.request
  private val answers = Module(new Queue(new CommandResponse, 2))
  outer.response <> answers.io.deq
  private val number = request.bits.rs1(current.getWidth - 1, 0)
  private val asked = table(number)
  private val owns = request.bits.rs1 < count.U && asked.state =/= EndpointState.free &&
    asked.context.satp === request.bits.context.satp
  private val leaving = UIntToOH(current, count) & Fill(count, phase === Phase.leave)
  private val free = VecInit(table.map(_.state === EndpointState.free)).asUInt & ~leaving
  private def asks(command: UnitCommand): Bool = request.bits.funct === command.funct.U
  // While its turn ends, the state of an endpoint is about to change.
  private val settles = phase === Phase.leave && number === current
  request.ready := answers.io.enq.ready && !settles
  answers.io.enq.valid := request.valid && request.bits.xd && !settles
  answers.io.enq.bits.rd := request.bits.rd
  answers.io.enq.bits.data := MuxCase(
    Fill(64, 1.U(1.W)),
    Seq(
      (asks(EndpointCommands.open) && free.orR) -> PriorityEncoder(free),
      asks(EndpointCommands.open) -> Fill(64, 1.U(1.W)),
      Seq(EndpointCommands.look, EndpointCommands.close, EndpointCommands.resume, EndpointCommands.await)
        .map(asks)
        .reduce(_ || _) -> Mux(owns, asked.state.asUInt, 0.U),
      asks(EndpointCommands.fault) -> Mux(owns, asked.fault, 0.U)
    )
  )
  private val stopped = asked.state =/= EndpointState.open
  when(request.fire) {
    when(asks(EndpointCommands.open) && free.orR) {
      val made = table(PriorityEncoder(free))
      made := 0.U.asTypeOf(made)
      made.state := EndpointState.open
      made.incoming := request.bits.rs1(63, 6) ## 0.U(6.W)
      made.outgoing := request.bits.rs2(63, 6) ## 0.U(6.W)
      made.context := request.bits.context
    }
    when(asks(EndpointCommands.close) && owns) {
      asked.closing := true.B
      when(stopped) { asked.state := EndpointState.free }
    }
    when(asks(EndpointCommands.resume) && owns && stopped) { asked.state := EndpointState.open }
  }

  private val sets = UIntToOH(number, count) & Fill(count, request.fire && asks(EndpointCommands.await) && owns)
  private val waiting = awaited & ~sets | sets & Fill(count, request.bits.rs2(0))
  private val woken = waiting & UIntToOH(current, count) & Fill(count, changes)
  private val used = ~VecInit(table.map(_.state === EndpointState.free)).asUInt
  awaited := waiting & ~woken & used
  pending := (pending & ~sets | woken) & used
  interrupt := pending.orR

  // After each fence, all endpoints for whose queues the root of the tables has no entry are released: their processes
  // have ended. A missing page alone may only be on its way to another place.
  private val walker = Module(new PageWalker(1))
  memory <> walker.memory
  private val probes = 2 * count
  private val due = RegInit(0.U(log2Ceil(probes + 1).W))
  private val probe = RegInit(0.U(log2Ceil(probes).W))
  private val probed = table((probe >> 1)(current.getWidth - 1, 0))
  private val walking = RegInit(false.B)
  private val isProbed = probed.state =/= EndpointState.free && !probed.context.flat
  walker.context := probed.context
  walker.forget := outer.fence
  walker.request(0).valid := due =/= 0.U && isProbed && !walking
  walker.request(0).bits := Mux(probe(0), probed.outgoing, probed.incoming) >> Paging.pageBits
  when(walker.request(0).fire) { walking := true.B }
  when(walker.result(0).valid) { walking := false.B }
  when(outer.fence) { due := probes.U }.elsewhen(due =/= 0.U && (walker.result(0).valid || !isProbed && !walking)) {
    due := due - 1.U
    probe := probe + 1.U
  }
  private val root = Mux(probed.context.mode === Paging.sv48.U, 3.U, 2.U)
  private val isGone = !walker.result(0).bits.found && walker.result(0).bits.translation.level === root
  when(walker.result(0).valid && isGone) {
    when((probe >> 1) === current && phase =/= Phase.choose) {
      ended := true.B
    }.otherwise { probed.state := EndpointState.free }
  }

  private val settled = !woken.orR && (pending & ~used) === 0.U
  idle := settled && !request.valid && !outer.response.valid && due === 0.U && !walking && Mux(
    phase === Phase.serve,
    !(leaves && between),
    phase === Phase.choose && !ready.orR
  )
}

object EndpointTable {

  /** Its current action. */
  object Phase extends ChiselEnum {
    val choose, load, renew, serve, leave = Value
  }
}

/** Commands of a tile that processes use. */
object EndpointCommands extends CommandList {
  val open: UnitCommand = command(
    "open",
    0,
    "address of the header of the incoming queue",
    "of the outgoing one",
    "number of an endpoint; 2^64 - 1: all are in use"
  )
  val close: UnitCommand =
    command("close", 1, "number of an endpoint: released when all that was published is answered", answer = "its state")
  val look: UnitCommand = command(
    "look",
    2,
    "number of an endpoint",
    answer = "0 free, 1 open, 2 the incoming queue is wrong, 3 the outgoing one, 4 an access was refused"
  )
  val fault: UnitCommand =
    command("refused", 3, "number of an endpoint", answer = "where the engine was refused an access, as `fault`; or 0")
  val resume: UnitCommand = command("resume", 4, "number of an endpoint that has stopped", answer = "its state before")
  val await: UnitCommand = command(
    "await",
    5,
    "number of an endpoint, whose interrupt is acknowledged",
    "1: interrupts when an index of the endpoint changes, or when it stops",
    "its state"
  )

  /** The opcode of all tiles. */
  val opcode: Int = 2
}
