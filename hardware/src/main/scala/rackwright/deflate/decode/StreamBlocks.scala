package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.compression.{LiteralKind, LiteralOrder}
import rackwright.port.Status

/** Parses a stream into blocks (RFC 1951, section 3.2.3): the bytes of stored blocks are forwarded, the code
  * descriptions of other blocks are parsed.
  */
class StreamBlocks extends Module {

  /** The blocks of a stream start with the next bit. */
  val start = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val head = IO(Input(new BitHead))
  val take = IO(Output(UInt(6.W)))
  val seek = IO(Valid(UInt(InputBits.positionBits.W)))

  /** The bytes of the input are forwarded as literals. */
  val hold = IO(Output(Bool()))
  val literals = IO(Decoupled(new LiteralOrder))

  /** The literals of a stored block cannot be read; the input ends within them. */
  val unreadable = IO(Input(Bool()))
  val lacking = IO(Input(Bool()))

  /** A code description starts; its parsing is done; it is invalid. */
  val describe = IO(Output(Bool()))
  val described = IO(Input(Bool()))
  val misdescribed = IO(Input(Bool()))

  /** Selects the described or the fixed codes. */
  val useDescribed = IO(Output(Bool()))
  val useFixed = IO(Output(Bool()))

  /** Compressed data starts at this bit, and is decoded until it ends. */
  val tokens = IO(Valid(UInt(InputBits.positionBits.W)))
  val running = IO(Output(Bool()))
  val tokensDone = IO(Input(Bool()))
  val tokensWrong = IO(Input(Bool()))
  val tokensEnd = IO(Input(UInt(InputBits.positionBits.W)))

  /** The literals of a stored block as a sequence. */
  val sequence = IO(Decoupled(new TokenSequence))

  /** Every issued sequence has been executed; the next one is waiting for literals. */
  val executed = IO(Input(Bool()))
  val starved = IO(Input(Bool()))

  /** The last block has been decoded; asserted for one cycle. */
  val done = IO(Output(Bool()))

  /** Error status; held until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** The position of the first bit of the block in progress. */
  val begin = IO(Output(UInt(InputBits.positionBits.W)))

  /** `reach` skips the length fields, behind which the bytes of a stored block start. */
  private object State extends ChiselEnum {
    val idle, header, align, stored, reach, enter, copy, copying, leave, fixed, describe, describing, begin, tokens,
        next, failing, failed = Value
  }
  private val state = RegInit(State.idle)
  private val last = Reg(Bool())
  private val length = Reg(UInt(16.W))
  private val at = Reg(UInt(InputBits.positionBits.W))
  private val reading = Seq(State.header, State.align, State.stored, State.describing).map(state === _).reduce(_ || _)
  private val faulty = RegInit(false.B)

  /** The literals of the stored block in progress are incomplete. */
  private val short = RegInit(false.B)
  when(clear) {
    faulty := false.B
    short := false.B
  }
  when((head.fault && (reading || state === State.tokens)) || (unreadable && state === State.copying)) {
    faulty := true.B
  }

  take := 0.U
  seek.valid := false.B
  seek.bits := head.position
  literals.valid := false.B
  literals.bits.kind := LiteralKind.raw
  literals.bits.count := length
  literals.bits.byte := 0.U
  sequence.valid := false.B
  sequence.bits.literals := length
  sequence.bits.length := 0.U
  sequence.bits.distance := 0.U

  private def fail(): Unit = state := State.failing
  private def read(bits: Int)(next: => Unit): Unit =
    when(head.has(bits.U)) {
      take := bits.U
      next
    }.elsewhen(head.lacks(bits.U)) { fail() }

  /** The end of the stored block whose bytes come next; nothing else is consumed meanwhile. */
  private val behind = RegNext(RegNext(head.position) + Cat(length, 0.U(3.W)))
  private val unaligned = (0.U - head.position(2, 0))(2, 0)
  switch(state) {
    is(State.header) {
      at := head.position
      read(3) {
        last := head.window(0)
        state := MuxLookup(head.window(2, 1), State.failing)(
          Seq(0.U -> State.align, 1.U -> State.fixed, 2.U -> State.describe)
        )
      }
    }
    is(State.align) {
      // The padding bits up to the next byte are available if the bit before them is.
      when(head.has(unaligned)) {
        take := unaligned
        state := State.stored
      }.elsewhen(head.lacks(unaligned)) { fail() }
    }
    is(State.stored) {
      read(32) {
        length := head.window(15, 0)
        state := Mux(head.window(15, 0) === ~head.window(31, 16), State.reach, State.failing)
      }
    }
    is(State.reach) { state := State.enter }
    is(State.enter) {
      seek.valid := length =/= 0.U
      state := Mux(length === 0.U, State.next, State.copy)
    }
    is(State.copy) {
      literals.valid := sequence.ready
      sequence.valid := literals.ready
      when(literals.fire) { state := State.copying }
    }
    is(State.copying) {
      when(literals.ready) { state := State.leave }
      when(lacking || unreadable) {
        short := true.B
        fail()
      }
    }
    is(State.leave) {
      seek.valid := true.B
      seek.bits := behind
      state := State.next
    }
    is(State.fixed) { state := State.begin }
    is(State.describe) { state := State.describing }
    is(State.describing) {
      when(described) { state := State.begin }
      when(misdescribed) { fail() }
    }
    is(State.begin) { state := State.tokens }
    is(State.tokens) {
      when(tokensDone) {
        seek.valid := true.B
        seek.bits := tokensEnd
        state := Mux(tokensWrong, State.failing, State.next)
      }
    }
    is(State.next) { state := Mux(last, State.idle, State.header) }
    is(State.failing) { when(executed || (short && starved)) { state := State.failed } }
  }
  when(start) { state := State.header }
  when(clear) { state := State.idle }

  hold := state === State.copy || state === State.copying
  describe := state === State.describe
  useDescribed := described
  useFixed := state === State.fixed
  tokens.valid := state === State.begin
  tokens.bits := head.position
  running := state === State.tokens
  done := state === State.next && last
  failed := state === State.failed
  status := Mux(faulty, Status.accessFault, Status.malformed)
  begin := at
}
