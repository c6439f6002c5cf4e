package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Buffers a report to send, and seals it: computes the tag over the message header and all that follows it.
  *
  * The words of the message enter from its first byte on; the last one is half filled. The words after the header can
  * be read by index `at`: whole words, then the half word with the first half of the tag, then the second half of the
  * tag.
  */
class ReportWriter(params: Params) extends Module {
  private val words = 5 + params.services
  private val indexBits = log2Ceil(words + 1)

  val key = IO(Input(UInt(128.W)))

  /** Starts a report; only when `free`. */
  val start = IO(Input(Bool()))
  val free = IO(Output(Bool()))
  val in = IO(Flipped(Valid(new HashedWord)))

  /** The report is complete; held until `release`. */
  val isSealed = IO(Output(Bool()))
  val release = IO(Input(Bool()))

  /** Ones' complement sum of the bytes to send. */
  val sum = IO(Output(UInt(16.W)))

  /** The index of the piece that is read. */
  val at = IO(Input(UInt(indexBits.W)))
  val piece = IO(Output(new Piece))

  private val hash = Module(new SipHash)
  private val stored = Reg(Vec(words, UInt(64.W)))
  private val written = RegInit(0.U(indexBits.W))
  private val hashed = RegInit(0.U(indexBits.W))
  private val complete = RegInit(false.B)
  private val busy = RegInit(false.B)
  private val summed = Reg(UInt(16.W))
  private val ready = RegInit(false.B)
  private val tag = BigEndian.swap(hash.hash)
  private val lastIndex = written - 1.U

  free := !busy
  hash.key := key
  hash.start := start
  when(start) {
    busy := true.B
    complete := false.B
    ready := false.B
    written := 0.U
    hashed := 0.U
  }
  when(in.valid) {
    stored(written) := in.bits.data
    written := written + 1.U
    complete := in.bits.last
  }

  private val isLast = complete && hashed === lastIndex
  private val length = Cat(lastIndex, 4.U(3.W))
  hash.in.valid := busy && hashed =/= written
  hash.in.bits.last := isLast
  hash.in.bits.data := Mux(isLast, SipHash.lastWord(stored(hashed), length.pad(8)), stored(hashed))
  // Which word is the last is known only when it is complete.
  when(hash.in.fire) { hashed := hashed + 1.U }

  private def lanes(data: UInt): UInt = BigEndian.words(data).reduce(_ +& _)
  private val counted =
    RegNext(Mux(hash.in.fire && hashed >= 2.U, lanes(Mux(isLast, stored(hashed)(31, 0).pad(64), stored(hashed))), 0.U))
  private val ending = RegInit(false.B)
  private val ends = busy && complete && hash.done && !ready && !ending
  private val endSum = RegNext(Mux(ends, lanes(tag), 0.U))
  ending := ends
  summed := Mux(start, 0.U, OnesComplement.fold(summed +& counted +& endSum))
  ready := busy && (ready || ending) && !start
  when(release) { busy := false.B }

  isSealed := ready
  sum := summed
  private val index = at +& 2.U
  piece.last := index > lastIndex
  piece.count := Mux(piece.last, 4.U, 8.U)
  piece.data := Mux(
    piece.last,
    tag(63, 32),
    Mux(index === lastIndex, Cat(tag(31, 0), stored(lastIndex)(31, 0)), stored(index(indexBits - 1, 0)))
  )
}
