package rackwright.drx

import chisel3._
import chisel3.util._

/** Understands instructions of the operation `loop`: what they set, and which of them can't be obeyed. */
class Setting(params: Params) extends Module {
  val word = IO(Input(UInt(Isa.wordBits.W)))
  val depth = IO(Input(UInt(params.depthBits.W)))

  /** The word is one of these instructions, and its turn has come. */
  val obey = IO(Input(Bool()))

  /** Forget the length and what `upper` said. */
  val clear = IO(Input(Bool()))

  /** The word can't be obeyed. */
  val broken = IO(Output(Bool()))

  /** A loop of `value` iterations is opened. */
  val opens = IO(Output(Bool()))
  val value = IO(Output(UInt(Isa.field("loop", "loop", "value").bits.W)))

  /** Elements of vectors. */
  val length = IO(Output(UInt(Isa.field("loop", "length", "value").bits.W)))

  private val change = new CalculatorValue(params.loopDepth)
  val base = IO(Valid(change))
  val stride = IO(Valid(change))
  val format = IO(Valid(change))
  val region = IO(Valid(change))

  private val function = Isa.function.of(word)
  private def is(name: String): Bool = function === Isa.functionCode("loop", name)
  private def field(of: String, name: String): UInt = Isa.field("loop", of, name).of(word)

  /** What `upper` says of the next value. */
  private val upper = Reg(UInt(32.W))
  private val raised = RegInit(false.B)

  /** The value of a function: its own bits below those of `upper`, or with their sign. */
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
