package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat

/** What is written in one cycle: a copy, which may be empty, then up to four literals; or the end of the block. */
class TokenStep(params: DeflateCompressorParams) extends Bundle {
  val matched = Bool()
  val ends = Bool()
  val lengthRest = UInt(8.W)
  val distanceRest = UInt(15.W)
  val literals = UInt(log2Ceil(DeflateCompressorParams.lanes + 1).W)

  /** The position of the literals in the input ring. */
  val place = UInt(log2Ceil(params.keptBytes).W)
}

/** The tokens of a block to write. */
class TokenRange(params: DeflateCompressorParams) extends Bundle {
  val count = UInt(params.tokenBits.W)
  val slot = UInt(log2Ceil(params.slots).W)

  /** Instead of tokens, the bytes of a stored block. */
  val plain = Bool()
  val bytes = UInt(params.countBits.W)
}

/** Reads the tokens of a block, and splits them into steps. */
class TokenCutter(params: DeflateCompressorParams) extends Module {
  import DeflateCompressorParams.lanes
  private val ahead = 6

  val start = IO(Flipped(Valid(new TokenRange(params))))
  val enable = IO(Input(Bool()))

  /** An index into the store, whose token arrives two cycles later. */
  val read = IO(Valid(UInt(TokenPlace.bits(params).W)))
  val token = IO(Input(new Token(params)))
  val step = IO(Valid(new TokenStep(params)))
  val done = IO(Output(Bool()))

  // Prefetch.
  private val left = RegInit(0.U(params.tokenBits.W))
  private val at = Reg(UInt(TokenPlace.bits(params).W))
  private val queue = Module(new Queue(new Token(params), ahead))
  private val held = RegInit(0.U(log2Ceil(ahead + 1).W))
  read.valid := left =/= 0.U && held =/= ahead.U
  read.bits := at
  when(read.valid) {
    left := left - 1.U
    at := at + 1.U
  }
  queue.io.enq.valid := RegNext(RegNext(read.valid, false.B), false.B)
  queue.io.enq.bits := token
  held := held + read.valid - queue.io.deq.fire

  // The token with literals left to write, if there is one.
  private val running = RegInit(false.B)
  private val plain = Reg(Bool())
  private val present = RegInit(false.B)
  private val fresh = Reg(Bool())
  private val current = Reg(new Token(params))
  private val literals = Reg(UInt(params.countBits.W))
  private val place = RegInit(0.U(log2Ceil(params.keptBytes).W))
  private val few = literals <= lanes.U
  private val copies = fresh && current.matched && !plain
  private val from = place + Mux(copies, current.lengthRest +& TokenFormat.shortest.U, 0.U)
  private val taken = Mux(few, literals, lanes.U)(log2Ceil(lanes), 0)
  private val goes = present && enable
  private val leaves = goes && few
  private val next = queue.io.deq
  next.ready := running && (!present || leaves)
  private val quiet = running && left === 0.U && held === 0.U
  private val ends = quiet && !present && enable
  step.valid := RegNext(goes || (ends && !plain), false.B)
  step.bits.matched := RegNext(copies && goes)
  step.bits.ends := RegNext(ends)
  step.bits.lengthRest := RegNext(current.lengthRest)
  step.bits.distanceRest := RegNext(current.distanceRest)
  step.bits.literals := RegNext(Mux(goes, taken, 0.U))
  step.bits.place := RegNext(from)
  done := RegNext(ends, false.B)
  when(goes) {
    place := from + taken
    literals := literals - taken
    fresh := false.B
    present := !few
  }
  when(next.fire) {
    present := true.B
    fresh := true.B
    current := next.bits
    literals := next.bits.literals
  }
  when(ends) { running := false.B }
  when(start.valid) {
    running := true.B
    plain := start.bits.plain
    present := start.bits.plain
    literals := start.bits.bytes
    left := Mux(start.bits.plain, 0.U, start.bits.count)
    at := Cat(start.bits.slot, 0.U(log2Ceil(params.tokensMost).W))
  }
}
