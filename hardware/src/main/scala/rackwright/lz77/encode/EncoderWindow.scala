package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

import EncoderParams._

/** A word of the input for the history. */
class HistoryWrite(params: EncoderParams) extends Bundle {

  /** Number of the word in the history. */
  val word = UInt((log2Ceil(params.historyBytes) - 3).W)
  val data = UInt(64.W)
}

/** A word of the input that waits for its place in the view. */
private class LoadedWord extends Bundle {
  val data = UInt(64.W)

  /** At least one byte of it belongs to the input: words of zeros follow its end. */
  val real = Bool()
}

/** Cuts the input into groups of eight positions, each with the bytes that a probe may compare.
  *
  * A group leaves when the words of its lookahead have been loaded, so that its contents never depend on the times at
  * which the input arrives. Each word is passed to the history when it is loaded. Two words are buffered between the
  * stream and the view, so that consumption of the stream depends on room in a queue and not on the search in the same
  * cycle.
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
  private val waitingWords = 2

  private val active = RegInit(false.B)
  private val view = Reg(UInt((8 * viewBytes).W))
  private val loaded = Reg(UInt(log2Ceil(ahead + 1).W))

  /** Bytes not yet taken from the stream, and the number of them in the next word. */
  private val toLoad = Reg(UInt(32.W))
  private val want = Reg(UInt(4.W))
  private val toSearch = Reg(UInt(32.W))
  private val word = Reg(UInt(history.bits.word.getWidth.W))
  private val position = Reg(UInt((segmentBits - laneBits).W))

  private def ofWord(bytes: UInt): UInt = Mux(bytes > wordBytes.U, wordBytes.U, bytes(3, 0))
  private val offered = stream.available >= want
  private val words = Module(new Queue(new LoadedWord, waitingWords, hasFlush = true))
  private val take = active && words.io.enq.ready && offered

  stream.consume := Mux(take, want, 0.U)
  fault := active && stream.fault && !offered

  private val raw = Cat(stream.data.take(wordBytes).reverse)
  private val keep = VecInit.tabulate(wordBytes)(i => Fill(8, want > i.U)).asUInt
  words.io.flush.get := start.valid
  words.io.enq.valid := take
  words.io.enq.bits.data := raw & keep
  words.io.enq.bits.real := want =/= 0.U

  private val next = words.io.deq.bits
  private val room = loaded =/= ahead.U || group.ready
  private val load = words.io.deq.fire
  words.io.deq.ready := active && room
  waiting := active && room && !words.io.deq.valid

  history.valid := load && next.real
  history.bits.word := word
  history.bits.data := next.data

  group.valid := active && loaded === ahead.U
  group.bits.view := view
  group.bits.position := Cat(position, 0.U(laneBits.W))
  group.bits.remaining := Mux(toSearch > span.U, span.U, toSearch(5, 0))
  group.bits.last := toSearch <= lanes.U

  when(take) {
    val rest = toLoad - want
    toLoad := rest
    want := ofWord(rest)
  }
  when(load) {
    view := Cat(next.data, view(8 * viewBytes - 1, 64))
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
    want := ofWord(start.bits)
    toSearch := start.bits
    word := 0.U
    position := 0.U
  }
}
