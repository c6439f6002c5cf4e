package rackwright.lz77

import chisel3._
import chisel3.util._

import rackwright.memory.ByteStream

import EncoderParams._

/** A word of the input on its way into the history. */
class HistoryWrite(params: EncoderParams) extends Bundle {

  /** Number of the word in the history. */
  val word = UInt((log2Ceil(params.historyBytes) - 3).W)
  val data = UInt(64.W)
}

/** Cuts the input into groups of eight positions, each with the bytes that a probe may compare.
  *
  * A group leaves when the words it looks ahead to have been loaded, so what a group sees never depends on when the
  * input arrived. Each word is given to the history as it is loaded.
  *
  * @param params
  *   sizes of the encoder.
  * @param streamBytes
  *   width of the input stream in bytes.
  */
class EncoderWindow(params: EncoderParams, streamBytes: Int) extends Module {
  val start = IO(Flipped(Valid(UInt(32.W))))
  val stream = IO(Flipped(new ByteStream(streamBytes)))
  val group = IO(Decoupled(new EncoderGroup))
  val history = IO(Valid(new HistoryWrite(params)))

  /** A byte of the input could not be read. */
  val fault = IO(Output(Bool()))

  /** The search waits for input. */
  val waiting = IO(Output(Bool()))

  private val wordBytes = 8
  private val ahead = span / wordBytes

  private val active = RegInit(false.B)
  private val view = Reg(UInt((8 * viewBytes).W))
  private val loaded = Reg(UInt(log2Ceil(ahead + 1).W))
  private val toLoad = Reg(UInt(32.W))
  private val toSearch = Reg(UInt(32.W))
  private val word = Reg(UInt(history.bits.word.getWidth.W))
  private val position = Reg(UInt((segmentBits - laneBits).W))

  private val want = Mux(toLoad > wordBytes.U, wordBytes.U, toLoad(3, 0))
  private val offered = stream.available >= want
  private val room = loaded =/= ahead.U || group.ready
  private val load = active && room && offered

  stream.consume := Mux(load, want, 0.U)
  fault := active && stream.fault && !offered
  waiting := active && room && !offered

  private val raw = Cat(stream.data.take(wordBytes).reverse)
  private val keep = VecInit.tabulate(wordBytes)(i => Fill(8, want > i.U)).asUInt
  private val next = raw & keep

  history.valid := load && want =/= 0.U
  history.bits.word := word
  history.bits.data := next

  group.valid := active && loaded === ahead.U
  group.bits.view := view
  group.bits.position := Cat(position, 0.U(laneBits.W))
  group.bits.remaining := Mux(toSearch > span.U, span.U, toSearch(5, 0))
  group.bits.last := toSearch <= lanes.U

  when(load) {
    view := Cat(next, view(8 * viewBytes - 1, 64))
    toLoad := toLoad - want
    word := word + 1.U
  }
  loaded := loaded + load - group.fire
  when(group.fire) {
    toSearch := toSearch - lanes.U
    position := position + 1.U
    active := !group.bits.last
  }
  when(start.valid) {
    active := start.bits =/= 0.U
    view := 0.U
    loaded := 0.U
    toLoad := start.bits
    toSearch := start.bits
    word := 0.U
    position := 0.U
  }
}
