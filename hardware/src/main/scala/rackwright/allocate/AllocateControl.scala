package rackwright.allocate

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, Status, UnitCommand}

/** Executes commands one after the other: small blocks come from those stored on chip, others are handled by the taker
  * and the releaser.
  */
class AllocateControl(params: Params) extends Module {
  private object State extends ChiselEnum {
    val idle, heap, heapHeader, heapList, size, choose, popped, want, taken, note, check, look, known, read, judge,
        keep, give, gone, sweep, sweepPop, sweepRead, sweepGive, sweepGone, answer = Value
  }

  val command = IO(new CommandPort)
  val base = IO(Output(UInt(64.W)))
  val total = IO(Output(UInt(Grain.bits.W)))

  /** Forget all that was allocated. */
  val clear = IO(Output(Bool()))
  val keptSize = IO(Output(UInt(params.keptSizeBits.W)))
  val keptAny = IO(Input(Bool()))
  val keptRoom = IO(Input(Bool()))
  val push = IO(Valid(UInt(Grain.bits.W)))
  val pop = IO(Output(Bool()))
  val popped = IO(Input(UInt(Grain.bits.W)))
  val recent = IO(Valid(new RecentBlock(params)))
  val back = IO(Valid(UInt(Grain.bits.W)))
  val isKnown = IO(Input(Bool()))
  val knownSize = IO(Input(UInt(params.keptSizeBits.W)))
  val want = IO(Decoupled(UInt(Grain.bits.W)))
  val taken = IO(Flipped(Valid(new TakenBlock)))
  val give = IO(Decoupled(new Block))
  val gaveBack = IO(Input(Bool()))
  val neighbourBroken = IO(Input(Bool()))
  val edit = IO(Decoupled(new ListEdit))
  val edited = IO(Input(Bool()))
  val read = IO(Decoupled(UInt(Grain.bits.W)))
  val block = IO(Flipped(Valid(new Block)))
  val write = IO(Decoupled(new BlockWrite))
  val refused = IO(Input(Bool()))
  val memoryIdle = IO(Input(Bool()))
  val idle = IO(Output(Bool()))

  /** A call is executed; a block came from those stored on chip; there was no memory; a call could not be executed. */
  val busy = IO(Output(Bool()))
  val hit = IO(Output(Bool()))
  val exhausted = IO(Output(Bool()))
  val wrong = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val request = Queue(command.request, params.commandQueue)
  private val answers = Module(new Queue(chiselTypeOf(command.response.bits), 2))
  command.response <> answers.io.deq

  private val now = Reg(chiselTypeOf(request.bits))
  private def is(other: UnitCommand): Bool = now.funct === other.funct.U
  private val start = RegInit(0.U(64.W))
  private val grains = RegInit(0.U(Grain.bits.W))
  base := start
  total := grains

  private val size = Reg(UInt(Grain.bits.W))
  private val place = Reg(UInt(Grain.bits.W))
  private val small = Reg(Bool())
  private val found = Reg(new Block)
  private val value = Reg(UInt(64.W))
  private val retried = Reg(Bool())
  private val keptTotal = RegInit(0.U(log2Ceil(params.kept * (params.keptGrains + 1) + 1).W))

  // A command, and its kind.
  request.ready := state === State.idle
  private val isFound = Reg(Bool())
  when(request.fire) {
    now := request.bits
    isFound := false.B
    value := 0.U
    retried := false.B
    state := MuxLookup(request.bits.funct, State.answer)(
      Seq(
        AllocateCommands.heap.funct.U -> State.heap,
        AllocateCommands.allocate.funct.U -> State.size,
        AllocateCommands.free.funct.U -> State.check,
        AllocateCommands.trim.funct.U -> State.sweep
      )
    )
  }

  // Problems: the first one is stored until it is queried.
  private val problem = RegInit(Problem.none)
  private val problemAddress = Reg(UInt(56.W))
  private val reported = WireDefault(Problem.none)
  private val isProblem = reported =/= Problem.none
  when(isProblem && problem === Problem.none) {
    problem := reported
    problemAddress := now.rs1
  }
  wrong := isProblem
  when(refused) { reported := Problem.accessFault }
  when(neighbourBroken) { reported := Problem.broken }

  // A heap begins as one free block.
  clear := state === State.heap
  private val isAligned = (now.rs1 | now.rs2)(Grain.shift - 1, 0) === 0.U
  private val isLong = now.rs2 >= (Grain.leastBlock * Grain.bytes).U && now.rs2(63, 32) === 0.U
  private val heapFits = isAligned && isLong
  when(state === State.heap) {
    start := now.rs1
    grains := Mux(heapFits, now.rs2(31, 4), 0.U)
    keptTotal := 0.U
    place := 0.U
    size := now.rs2(31, 4)
    value := Mux(heapFits, Status.ok, Status.unsupported)
    state := Mux(heapFits, State.heapHeader, State.answer)
  }

  // The size of a block: its header, and the requested size in whole grains.
  private val roundedUp = now.rs1(31, 0) +& (2 * Grain.bytes - 1).U
  when(state === State.size) {
    val counted = roundedUp(32, Grain.shift)
    size := Mux(counted < Grain.leastBlock.U, Grain.leastBlock.U, counted)
    small := now.rs1 <= (Grain.bytes * (params.keptGrains - 1)).U
    state := Mux(now.rs1(63, 32) =/= 0.U || roundedUp(32), State.answer, State.choose)
  }
  private val swept = Reg(UInt(params.keptSizeBits.W))
  keptSize := Mux(state === State.sweep, swept, size)
  private val fromKept = state === State.choose && small && keptAny
  when(state === State.choose) { state := Mux(fromKept, State.popped, State.want) }
  hit := fromKept
  pop := fromKept || (state === State.sweep && keptAny)
  private val wasKept = Reg(Bool())
  when(state === State.choose) { wasKept := fromKept }
  when(state === State.popped) {
    place := popped
    state := State.note
  }
  want.valid := state === State.want
  want.bits := size
  when(want.fire) { state := State.taken }
  private val missing = state === State.taken && taken.valid && !taken.bits.exists
  when(state === State.taken && taken.valid) {
    place := taken.bits.place
    size := taken.bits.size
    small := taken.bits.size <= params.keptGrains.U
    state := State.note
    when(taken.bits.broken) {
      reported := Problem.broken
      state := State.answer
    }.elsewhen(!taken.bits.exists) {
      // Blocks stored on chip may be merged to a block of the requested size.
      retried := true.B
      state := Mux(retried || keptTotal === 0.U, State.answer, State.sweep)
    }
  }
  exhausted := missing && (retried || keptTotal === 0.U) && !taken.bits.broken
  // The header of a block that was stored on chip is updated; the taker has written that of its own.
  private val writesNote = state === State.note && wasKept
  private val noted = state === State.note && (!wasKept || write.fire)
  recent.valid := noted && small
  recent.bits.place := place
  recent.bits.size := size
  when(noted) {
    value := start + Cat(place +& 1.U, 0.U(Grain.shift.W))
    state := State.answer
  }

  // A block that is freed.
  private val offset = now.rs1 - start
  when(state === State.check) {
    val inside = offset(63, 32) === 0.U && offset(3, 0) === 0.U && offset(31, 4) =/= 0.U && offset(31, 4) < grains
    place := offset(31, 4) - 1.U
    state := Mux(inside, State.look, State.answer)
    when(!inside && now.rs1 =/= 0.U) { reported := Problem.foreign }
  }
  back.valid := state === State.look
  back.bits := place
  when(state === State.look) { state := State.known }
  when(state === State.known) {
    size := knownSize
    state := Mux(isKnown, State.keep, State.read)
  }
  read.valid := state === State.read || state === State.sweepRead
  read.bits := place
  when(read.valid && block.valid) {
    found := block.bits
    isFound := true.B
  }
  when(state === State.read && block.valid) {
    size := block.bits.header.size
    state := State.judge
  }
  when(state === State.judge) {
    val outside = !found.sound || found.header.size < Grain.leastBlock.U
    val twice = found.header.free || found.header.kept
    state := Mux(size <= params.keptGrains.U, State.keep, State.give)
    when(outside) { reported := Problem.foreign }
      .elsewhen(twice) { reported := Problem.twice }
    when(outside || twice) { state := State.answer }
  }
  // The header is needed only for a block that is not stored on chip.
  when(state === State.keep) {
    when(!keptRoom) { state := Mux(isFound, State.give, State.read) }
      .elsewhen(write.fire) { state := State.answer }
  }
  push.valid := state === State.keep && keptRoom && write.fire
  push.bits := place
  when(push.valid =/= pop) { keptTotal := Mux(pop, keptTotal - 1.U, keptTotal + 1.U) }
  give.valid := state === State.give || state === State.sweepGive
  give.bits := found
  when(give.fire) { state := Mux(state === State.give, State.gone, State.sweepGone) }
  when(state === State.gone && gaveBack) { state := State.answer }

  // All blocks stored on chip, size by size.
  private val sweeps =
    Seq(State.sweepPop, State.sweepRead, State.sweepGive, State.sweepGone).map(_ === state).reduce(_ || _)
  when(state =/= State.sweep && !sweeps) { swept := 0.U }
  when(state === State.sweep) {
    swept := Mux(keptAny, swept, swept + 1.U)
    when(keptAny) { state := State.sweepPop }
      .elsewhen(swept === params.keptGrains.U) { state := Mux(is(AllocateCommands.trim), State.answer, State.size) }
  }
  when(state === State.sweepPop) {
    place := popped
    state := State.sweepRead
  }
  when(state === State.sweepRead && block.valid) {
    val sound = block.bits.sound && block.bits.header.kept
    state := Mux(sound, State.sweepGive, State.sweep)
    when(!sound) { reported := Problem.broken }
  }
  when(state === State.sweepGone && gaveBack) { state := State.sweep }

  edit.valid := state === State.heapList
  edit.bits.place := 0.U
  edit.bits.size := size
  edit.bits.leaves := false.B
  edit.bits.links := 0.U.asTypeOf(new Links)
  when(edit.fire) { state := State.gone }

  write.valid := state === State.heapHeader || writesNote || (state === State.keep && keptRoom)
  write.bits.place := place
  write.bits.links := false.B
  write.bits.low.valid := true.B
  write.bits.low.bits := Header.low(size, state === State.heapHeader, state === State.keep)
  write.bits.high.valid := state === State.heapHeader
  write.bits.high.bits := Header.high(0.U(Grain.bits.W), 0.U(Grain.bits.W))
  when(state === State.heapHeader && write.fire) { state := State.heapList }

  answers.io.enq.valid := state === State.answer && now.xd
  answers.io.enq.bits.rd := now.rd
  private val told = Mux(problem === Problem.none, 0.U, Cat(problemAddress, problem.pad(8)))
  answers.io.enq.bits.data := Mux(is(AllocateCommands.problem), told, value)
  when(state === State.answer && (!now.xd || answers.io.enq.ready)) {
    state := State.idle
    when(is(AllocateCommands.problem) && now.xd) { problem := Problem.none }
  }
  busy := state =/= State.idle
  idle := !busy && !request.valid && !answers.io.deq.valid && memoryIdle
}
