package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import rackwright.memory.WriteFirstMemory

/** Literals that wait for the length of their run to be known.
  *
  * A ring of four banks of words. What is written in a cycle is offered from two cycles later on; a consumer that
  * learns of a run no earlier needs no flags here.
  *
  * @param params
  *   sizes of the encoder.
  * @param readBytes
  *   bytes offered per cycle: 8 or 16.
  */
class EncoderLiterals(params: EncoderParams, readBytes: Int) extends Module {
  require(readBytes <= 16, s"four banks serve 16 unaligned bytes, not $readBytes")
  private val addressBits = log2Ceil(params.literalBytes)
  private val bankBits = 2
  private val rowBits = addressBits - 3 - bankBits

  val write = IO(Flipped(Valid(new LiteralWrite)))

  /** There is space for the groups in flight and one more. */
  val room = IO(Output(Bool()))

  /** The next `readBytes` bytes, first byte lowest. */
  val data = IO(Output(UInt((8 * readBytes).W)))
  val consume = IO(Input(UInt(log2Ceil(readBytes + 1).W)))

  private val writeAt = RegInit(0.U(addressBits.W))
  private val readAt = RegInit(0.U(addressBits.W))
  private val held = RegInit(0.U((addressBits + 1).W))

  /** Bytes already written of the word that is written next. */
  private val partial = Reg(UInt(56.W))

  private val written = Mux(write.valid, write.bits.count, 0.U)
  private val nextRead = readAt + consume
  room := RegNext(held <= (params.literalBytes - EncoderLiterals.reserve).U, false.B)
  assert(held <= params.literalBytes.U, "literals are overwritten")

  private val offset = writeAt(2, 0)
  private val kept = partial & VecInit.tabulate(7)(i => Fill(8, offset > i.U)).asUInt
  private val joined = (write.bits.data << Cat(offset, 0.U(3.W)))(119, 0) | kept
  private val writeWord = writeAt >> 3
  private val readWord = nextRead >> 3

  private val words = VecInit.tabulate(1 << bankBits) { number =>
    val memory = Module(new WriteFirstMemory(1 << rowBits, 64))
    val isFirst = writeWord(bankBits - 1, 0) === number.U
    val isSecond = (writeWord + 1.U)(bankBits - 1, 0) === number.U
    val row = Mux(isFirst, writeWord, writeWord + 1.U) >> bankBits
    memory.write.valid := write.valid && (isFirst || isSecond)
    memory.write.bits.address := row
    memory.write.bits.data := Mux(isFirst, joined(63, 0), joined(119, 64))
    val wrapped = readWord(bankBits - 1, 0) > number.U
    memory.read.valid := held =/= 0.U
    memory.read.bits := (readWord >> bankBits) + wrapped
    memory.data
  }

  private val wordsNeeded = (readBytes + 7 + 7) / 8
  private val line = Cat((0 until wordsNeeded).reverse.map(i => words(((readAt >> 3) + i.U)(bankBits - 1, 0))))
  data := (line >> Cat(readAt(2, 0), 0.U(3.W)))(8 * readBytes - 1, 0)

  when(write.valid) {
    writeAt := writeAt + written
    partial := Mux(offset +& written >= 8.U, joined(119, 64), joined(55, 0))
  }
  readAt := nextRead
  held := held + written - consume
}

/** Constants of the structure. */
object EncoderLiterals {

  /** Bytes reserved for groups in flight when the buffer is full. */
  val reserve: Int = 128
}
