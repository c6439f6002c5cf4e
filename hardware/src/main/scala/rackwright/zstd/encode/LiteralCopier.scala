package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString

/** A range of literals of a block to write. */
class LiteralRange(params: ZstdCompressorParams) extends Bundle {
  val count = UInt(params.countBits.W)
  val half = Bool()
}

/** Emits the literals of a block uncompressed, one word per cycle. */
class LiteralCopier(params: ZstdCompressorParams) extends Module {
  import BlockCollector.lanes

  val start = IO(Flipped(Valid(new LiteralRange(params))))
  val enable = IO(Input(Bool()))

  /** An index into the store, whose word arrives two cycles later. */
  val read = IO(Valid(UInt((log2Ceil(params.blockBytes) - 1).W)))
  val word = IO(Input(UInt((8 * lanes).W)))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))

  /** All bits have been emitted, also if there are none. */
  val done = IO(Output(Bool()))

  private val running = RegInit(false.B)
  private val range = Reg(new LiteralRange(params))
  private val at = Reg(UInt(log2Ceil(params.blockBytes / lanes).W))
  private val empty = range.count === 0.U
  private val few = range.count <= lanes.U
  private val issue = running && enable && !empty
  read.valid := issue
  read.bits := Cat(range.half, at)
  when(issue) {
    at := at + 1.U
    range.count := Mux(few, 0.U, range.count - lanes.U)
  }
  private val arrives = RegNext(issue, false.B)
  private val count = RegNext(RegNext(Mux(few, range.count, lanes.U)))
  bits.valid := RegNext(arrives, false.B)
  bits.bits.value := word
  bits.bits.count := Cat(count(log2Ceil(lanes), 0), 0.U(3.W))
  done := running && empty && !arrives && !bits.valid
  when(done) { running := false.B }
  when(start.valid) {
    running := true.B
    range := start.bits
    at := 0.U
  }
}
