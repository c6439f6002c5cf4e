package rackwright.drx

import chisel3._
import chisel3.util._

/** Decodes instructions of the operation `loop`: the values that they set, and whether they are illegal. */
class Setting(params: Params) extends Module {
  val word = IO(Input(UInt(Isa.wordBits.W)))
  val depth = IO(Input(UInt(params.depthBits.W)))

  /** The word is such an instruction, and it is executed in this cycle. If it is illegal, the settings are undefined
    * until `clear`.
    */
  val obey = IO(Input(Bool()))

  /** Resets the vector length, and the upper bits set by `upper`. */
  val clear = IO(Input(Bool()))

  /** The instruction is illegal. */
  val broken = IO(Output(Bool()))

  /** Opens a loop of `value` iterations. */
  val opens = IO(Output(Bool()))
  val value = IO(Output(UInt(Isa.field("loop", "loop", "value").bits.W)))

  /** The vector length in elements. */
  val length = IO(Output(UInt(Isa.field("loop", "length", "value").bits.W)))

  /** What the instruction changes in a calculator. */
  val change = IO(Output(new CalculatorChange(params.loopDepth)))

  private val function = Isa.function.of(word)
  private def is(name: String): Bool = function === Isa.functionCode("loop", name)
  private def field(of: String, name: String): UInt = Isa.field("loop", of, name).of(word)

  /** The upper bits of the next value, set by `upper`. */
  private val upper = Reg(UInt(32.W))
  private val raised = RegInit(false.B)

  /** The value of a function: its own bits below those of `upper`, or sign-extended. */
  private def wide(of: String): UInt = {
    val bits = Isa.field("loop", of, "value").bits
    val own = field(of, "value")
    Mux(raised, (upper << bits)(31, 0) | own, own.asSInt.pad(32).asUInt)
  }

  private val elements = RegInit(1.U(length.getWidth.W))
  length := elements
  value := field("loop", "value")
  opens := obey && is("loop")

  private val typed = field("format", "type")
  private val level = field("stride", "level")
  private val chosen = field("region", "region")
  broken := !MuxCase(
    false.B,
    Seq(
      is("upper") -> true.B,
      is("base") -> true.B,
      is("stride") -> (level < params.loopDepth.U),
      is("format") -> Isa.types.map(_.code.U === typed).reduce(_ || _),
      is("region") -> (chosen < Isa.regions.U),
      is("length") -> (field("length", "value") =/= 0.U),
      is("loop") -> (value =/= 0.U && depth =/= params.loopDepth.U)
    )
  )

  change.base := obey && is("base")
  change.stride := obey && is("stride")
  change.format := obey && is("format")
  change.region := obey && is("region")
  change.calculator := field("base", "calculator")
  change.level := level
  change.elementType := typed
  change.value := MuxCase(
    wide("base"),
    Seq(is("stride") -> wide("stride"), is("format") -> wide("format"), is("region") -> chosen)
  )
  when(obey) {
    raised := is("upper")
    upper := field("upper", "value")
    when(is("length")) { elements := field("length", "value") }
  }
  when(clear) {
    raised := false.B
    elements := 1.U
  }
}
