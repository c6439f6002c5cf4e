package rackwright.drx

import chisel3._
import chisel3.util._

/** Sequences the program and its hardware loops, and issues a step for each instruction that performs an action.
  *
  * Instructions that configure loops and address calculators are executed here, one per cycle. The next instruction is
  * determined in the cycle of the current one, so that a step can be issued in every cycle.
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

  private val outside = pc === instructions
  private val operation = Isa.operation.of(word)
  private val function = Isa.function.of(word)
  private def is(name: String): Bool = operation === Isa.operationCode(name)

  setting.word := word
  setting.depth := loops.depth
  setting.obey := running && !outside && is("loop") && !setting.broken
  setting.clear := start.valid
  sets := setting.obey

  private val ends = Isa.field("compute", "ends").of(word)
  private val unknown = VecInit(Seq("compute", "memory", "synchronisation").map { name =>
    is(name) && !Isa.functions(name).map(_.code.U === function).reduce(_ || _)
  }).asUInt.orR
  private val broken = outside || unknown || Mux(is("loop"), setting.broken, ends > loops.depth)
  step.valid := running && (!is("loop") || broken)
  private val advances = setting.obey || (step.fire && !broken)

  loops.clear := start.valid
  loops.open.valid := setting.opens
  loops.open.bits.iterations := setting.value
  loops.open.bits.begin := pc + 1.U
  loops.ends := Mux(is("loop"), 0.U, ends)
  loops.step := step.fire && !broken

  private val next = Mux(loops.step && loops.repeats, loops.target, pc + 1.U)
  index := Mux(start.valid, 0.U, Mux(advances, next, pc))
  pc := index
  when(start.valid) {
    running := true.B
    instructions := start.bits
  }.elsewhen(stop || (step.fire && (broken || step.bits.kind === StepKind.end))) { running := false.B }

  calculators.clear := start.valid
  calculators.depth := loops.depth
  calculators.move.opens := setting.opens
  calculators.move.repeats := loops.step && loops.repeats
  calculators.move.level := loops.level
  calculators.base := setting.base
  calculators.stride := setting.stride
  calculators.format := setting.format
  calculators.region := setting.region
  for ((name, place) <- Seq("destination", "first", "second").zipWithIndex)
    calculators.chosen(place) := Isa.field("compute", name).of(word)

  describe(step.bits)

  private def describe(bits: Step): Unit = {
    val moves = is("memory")
    bits.kind := MuxCase(
      StepKind.end,
      Seq(
        broken -> StepKind.broken,
        is("compute") -> StepKind.compute,
        (moves && function === Isa.functionCode("memory", "load")) -> StepKind.load,
        moves -> StepKind.store,
        (function === Isa.functionCode("synchronisation", "wait_loads")) -> StepKind.waitLoads,
        (function === Isa.functionCode("synchronisation", "wait_stores")) -> StepKind.waitStores
      )
    )
    bits.index := pc
    bits.function := function
    bits.destination := calculators.operands(0)
    // Transfers encode their calculators in the fields of a destination and a first operand.
    bits.first := Mux(moves, calculators.operands(0), calculators.operands(1))
    bits.second := Mux(moves, calculators.operands(1), calculators.operands(2))
    bits.region := calculators.regions(1)
    bits.length := setting.length
    bits.size := Isa.field("memory", "size").of(word)
    bits.count := Isa.field("synchronisation", "count").of(word)
  }
}
