package rackwright.drx

import chisel3._
import chisel3.util._

/** Decodes instructions of the operation `loop`: the values that they set, and whether they are illegal. */
class Setting(params: Params) extends Module {
  val word = IO(Input(UInt(Isa.wordBits.W)))
  val depth = IO(Input(UInt(params.depthBits.W)))

  /** The word is such an instruction, and it is executed in this cycle. */
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

  private val change = new CalculatorValue(params.loopDepth)
  val base = IO(Valid(change))
  val stride = IO(Valid(change))
  val format = IO(Valid(change))
  val region = IO(Valid(change))

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

  for ((name, port) <- Seq("base" -> base, "stride" -> stride, "format" -> format, "region" -> region)) {
    port.valid := obey && is(name)
    port.bits.calculator := field("base", "calculator")
    port.bits.level := level
    port.bits.elementType := typed
    port.bits.value := (if (name == "region") chosen else wide(name))
  }
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
