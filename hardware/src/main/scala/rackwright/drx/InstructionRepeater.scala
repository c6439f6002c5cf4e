package rackwright.drx

import chisel3._
import chisel3.util._

/** Sequences the program and its hardware loops, and issues a step for each instruction that performs an action.
  *
  * The next instruction is determined in the cycle in which the current one arrives from the memory, so that a loop
  * takes no cycle of its own. Instructions then pass a register, behind which the address calculators are changed and
  * read: the control flow does not depend on them.
  */
class InstructionRepeater(params: Params) extends Module {

  /** Starts a program with this number of instructions at its first one. */
  val start = IO(Flipped(Valid(UInt(params.indexBits.W))))

  /** Abandons the program. */
  val stop = IO(Input(Bool()))

  /** Interface to the instruction memory. */
  val index = IO(Output(UInt(params.indexBits.W)))
  val word = IO(Input(UInt(Isa.wordBits.W)))
  val step = IO(Decoupled(new Step(params)))

  /** A configuring instruction is executed. */
  val sets = IO(Output(Bool()))

  private val running = RegInit(false.B)
  private val instructions = Reg(UInt(params.indexBits.W))
  private val pc = Reg(UInt(params.indexBits.W))
  private val setting = Module(new Setting(params))
  private val loops = Module(new LoopStack(params))
  private val calculators = Module(new AddressCalculators(params))

  // First stage: control flow.
  private val outside = pc === instructions
  private val operation = Isa.operation.of(word)
  private val function = Isa.function.of(word)
  private val endCode = Isa.functionCode("synchronisation", "end")
  private def is(name: String): Bool = operation === Isa.operationCode(name)

  private val decoded = Wire(new DecodedInstruction(params))
  private val held = Reg(new DecodedInstruction(params))
  private val present = RegInit(false.B)
  private val accepts = !present || !held.issues || step.ready
  private val advances = running && accepts

  setting.word := word
  setting.depth := loops.depth
  setting.obey := advances && is("loop")
  setting.clear := start.valid

  private val ends = Isa.field("compute", "ends").of(word)
  private val unknown = VecInit(Seq("compute", "memory", "synchronisation").map { name =>
    is(name) && !Isa.functions(name).map(_.code.U === function).reduce(_ || _)
  }).asUInt.orR
  private val broken = outside || unknown || Mux(is("loop"), setting.broken, ends > loops.depth)

  // An illegal instruction changes the loops and settings as well, since the program ends with it: they do not wait
  // for the check.
  loops.clear := start.valid
  loops.open.valid := setting.opens
  loops.open.bits.iterations := setting.value
  loops.open.bits.begin := pc + 1.U
  loops.ends := Mux(is("loop"), 0.U, ends)
  loops.step := advances && !is("loop")

  // Everything but the number of ended loops is known before the instruction arrives.
  private val following = VecInit(loops.outcomes.map { outcome =>
    Mux(start.valid, 0.U, Mux(advances, Mux(outcome.repeats, outcome.target, pc + 1.U), pc))
  })
  index := following(loops.ends)
  pc := index

  when(accepts) { present := running }
  when(advances) { held := decoded }
  when(stop) { present := false.B }
  when(start.valid) {
    running := true.B
    instructions := start.bits
  }.elsewhen(stop || (advances && (broken || is("synchronisation") && function === endCode))) { running := false.B }

  decoded.issues := !is("loop") || broken
  decoded.kind := MuxCase(
    StepKind.end,
    Seq(
      broken -> StepKind.broken,
      is("compute") -> StepKind.compute,
      (is("memory") && function === Isa.functionCode("memory", "load")) -> StepKind.load,
      is("memory") -> StepKind.store,
      (function === Isa.functionCode("synchronisation", "wait_loads")) -> StepKind.waitLoads,
      (function === Isa.functionCode("synchronisation", "wait_stores")) -> StepKind.waitStores
    )
  )
  decoded.index := pc
  decoded.function := function
  decoded.length := setting.length
  decoded.size := Isa.field("memory", "size").of(word)
  decoded.count := Isa.field("synchronisation", "count").of(word)
  for ((name, place) <- Seq("destination", "first", "second").zipWithIndex)
    decoded.chosen(place) := Isa.field("compute", name).of(word)
  decoded.transfers := is("memory")
  decoded.depth := loops.depth
  decoded.move.opens := setting.opens
  decoded.move.repeats := loops.outcomes(loops.ends).repeats
  decoded.move.level := loops.outcomes(loops.ends).level
  decoded.change := setting.change

  // Second stage: addresses.
  step.valid := present && held.issues
  sets := present && !held.issues
  calculators.clear := start.valid
  calculators.depth := held.depth
  calculators.move.opens := sets && held.move.opens
  calculators.move.repeats := step.fire && held.move.repeats
  calculators.move.level := held.move.level
  calculators.change.valid := sets
  calculators.change.bits := held.change
  calculators.chosen := held.chosen

  step.bits.kind := held.kind
  step.bits.index := held.index
  step.bits.function := held.function
  step.bits.destination := calculators.operands(0)
  // Transfers encode their calculators in the fields of a destination and a first operand.
  step.bits.first := Mux(held.transfers, calculators.operands(0), calculators.operands(1))
  step.bits.second := Mux(held.transfers, calculators.operands(1), calculators.operands(2))
  step.bits.region := calculators.regions(1)
  step.bits.length := held.length
  step.bits.size := held.size
  step.bits.count := held.count
}
