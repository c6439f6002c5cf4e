package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.entropy.bits.BitString
import rackwright.memory.Sram

/** Writes prepared blocks, one after the other: header, code description or length fields, tokens (RFC 1951, section
  * 3.2.3).
  */
class BlockWriter(params: DeflateCompressorParams) extends Module {
  import BlockWriter.State
  import DeflateCompressorParams.{lanes, stringBits}

  /** Accepted when the block before has been written. */
  val block = IO(Flipped(Decoupled(new PreparedBlock(params))))

  /** Blocks may start; bits may be emitted. */
  val begin = IO(Input(Bool()))
  val enable = IO(Input(Bool()))
  val literalWord = IO(Flipped(Valid(new TableWord(TokenFormat.literalSymbols))))
  val distanceWord = IO(Flipped(Valid(new TableWord(TokenFormat.distanceSymbols))))
  val string = IO(Flipped(Valid(new DescriptionString)))

  /** The half of the tables to which `string` belongs. */
  val preparedHalf = IO(Input(Bool()))
  val read = IO(Valid(UInt(TokenPlace.bits(params).W)))
  val token = IO(Input(new Token(params)))
  val place = IO(Valid(UInt(log2Ceil(params.keptBytes).W)))
  val literals = IO(Input(UInt((8 * lanes).W)))

  /** Number of input bytes that are no longer needed. */
  val release = IO(Valid(UInt(log2Ceil(params.keptBytes).W)))
  val bits = IO(Valid(new BitString(stringBits)))

  /** Aligns the next bits to a byte; not in the same cycle as bits. */
  val align = IO(Output(Bool()))

  /** The last block has been written. */
  val finished = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val current = Reg(new PreparedBlock(params))
  private val ended = RegInit(false.B)
  private val isStored = current.kind === BlockKind.stored.U
  private val isDynamic = current.kind === BlockKind.dynamic.U
  private def enters(target: State.Type): Bool = state === target && RegNext(state =/= target, false.B)
  finished := ended

  private val head = Wire(Valid(new BitString(stringBits)))
  head.valid := state === State.head && enable
  head.bits.value := Cat(current.kind, current.last)
  head.bits.count := 3.U
  private val sizes = Wire(Valid(new BitString(stringBits)))
  private val size = current.bytes.pad(16)
  sizes.valid := state === State.sizes && enable
  sizes.bits.value := Cat(~size, size)
  sizes.bits.count := 32.U
  align := state === State.align

  // The description of the codes.
  private val strings = Sram(2 << CodeDescriber.placeBits, new BitString(CodeDescriber.mostBits))
  when(string.valid) { strings.write(Cat(preparedHalf, string.bits.place), string.bits.string) }
  private val at = Reg(UInt(CodeDescriber.placeBits.W))
  private val describing = state === State.describe && at =/= current.strings && enable
  private val found = RegNext(strings.read(Cat(current.half, at), describing))
  private val described = Wire(Valid(new BitString(stringBits)))
  described.valid := ShiftRegister(describing, 2, false.B, true.B)
  described.bits.value := found.value
  described.bits.count := found.count
  when(describing) { at := at + 1.U }

  private val tokens = Module(new TokenWriter(params))
  tokens.start.valid := enters(State.tokens)
  tokens.start.bits.count := current.tokens
  tokens.start.bits.slot := current.slot
  tokens.start.bits.plain := isStored
  tokens.start.bits.bytes := current.bytes
  tokens.kind := current.kind
  tokens.half := current.half
  tokens.enable := enable
  tokens.literalWord := literalWord
  tokens.distanceWord := distanceWord
  read := tokens.read
  tokens.token := token
  place := tokens.place
  tokens.literals := literals

  private val sources = Seq(head, sizes, described, tokens.bits)
  bits.valid := sources.map(_.valid).reduce(_ || _)
  bits.bits := Mux1H(sources.map(source => source.valid -> source.bits))

  block.ready := state === State.idle && begin
  release.valid := state === State.release
  release.bits := current.bytes
  switch(state) {
    is(State.idle) {
      current := block.bits
      when(block.fire) { state := State.head }
    }
    is(State.head) {
      at := 0.U
      when(enable) { state := Mux(isStored, State.align, Mux(isDynamic, State.describe, State.tokens)) }
    }
    is(State.align) { state := State.sizes }
    is(State.sizes) { when(enable) { state := State.tokens } }
    is(State.describe) { when(at === current.strings && !RegNext(describing, false.B)) { state := State.tokens } }
    is(State.tokens) { when(!enters(State.tokens) && tokens.done) { state := State.release } }
    is(State.release) {
      ended := current.last
      state := State.idle
    }
  }
}

object BlockWriter {

  /** `align` and `sizes` start a stored block; `describe` emits the description of the codes; `release` frees the
    * buffer entries of the block.
    */
  object State extends ChiselEnum {
    val idle, head, align, sizes, describe, tokens, release = Value
  }
}
