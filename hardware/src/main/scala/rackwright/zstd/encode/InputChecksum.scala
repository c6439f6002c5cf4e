package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.checksum.ContentChecksum

/** Computes the XXH64 hash of the input of an operation, from the words that the LZ77 encoder consumes. */
class InputChecksum extends Module {
  private val wordBytes = 8
  private val lineBytes = 32

  /** The length is valid, and the hash is needed. */
  val active = IO(Input(Bool()))

  /** Up to eight bytes, the first one lowest; eight in every word but the last. */
  val data = IO(Input(UInt((8 * wordBytes).W)))
  val count = IO(Input(UInt(4.W)))

  /** Size of the whole input in bytes, held; bytes beyond it are not hashed. */
  val length = IO(Input(UInt(32.W)))
  val hash = IO(Valid(UInt(32.W)))

  private val checksum = Module(new ContentChecksum(lineBytes))
  private val fresh = RegNext(true.B, false.B)
  checksum.start.valid := !fresh
  checksum.start.bits := 0.U

  private val line = Reg(UInt((8 * (lineBytes - wordBytes)).W))
  private val words = RegInit(0.U(2.W))
  private val taken = RegInit(0.U(32.W))
  private val arrived = RegNext(count =/= 0.U, false.B)
  private val word = RegNext(data)
  private val bytes = RegNext(count)
  when(arrived) {
    taken := taken + bytes
    words := words + 1.U
    line := Mux1H((0 until 3).map(i =>
      (words === i.U) -> VecInit.tabulate(3)(j =>
        if (j == i) word else line(64 * j + 63, 64 * j)
      ).asUInt
    ))
  }
  private val lineFull = arrived && words === 3.U

  // The last line may be shorter.
  private val all = active && taken === length
  private val restGiven = RegInit(false.B)
  private val restDue = all && words =/= 0.U && !restGiven && !arrived
  private val restBytes = length(4, 0)
  when(restDue) { restGiven := true.B }
  checksum.line.valid := lineFull || restDue
  checksum.line.bits.data := Cat(word, line)
  checksum.line.bits.mask := Mux(
    lineFull && bytes === wordBytes.U,
    ~0.U(lineBytes.W),
    VecInit.tabulate(lineBytes)(i => restBytes > i.U).asUInt
  )
  assert(!checksum.line.valid || checksum.line.ready, "a line is lost")
  checksum.finish := RegNext(all && !restDue && !arrived, false.B)
  checksum.length := length
  hash.valid := checksum.done
  hash.bits := checksum.value
}
