package rackwright.lz77

import chisel3._
import chisel3.util._

import EncoderParams.generationBits

/** Empties the hash table without visiting it: entries of an earlier generation are void.
  *
  * The number of a generation returns after 2^generationBits of them. Before it does, every row has been cleared once,
  * because each new generation clears the next part of the rows; all entries are void at that moment, so clearing never
  * changes what is found. After reset all rows are cleared, as memories start with any content.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTableGeneration(params: EncoderParams) extends Module {

  /** Begins a new generation; only while not `busy`. */
  val renew = IO(Input(Bool()))
  val generation = IO(Output(UInt(generationBits.W)))

  /** Row to clear in every bank in this cycle. */
  val clear = IO(Valid(UInt(params.rowBits.W)))

  /** Rows are being cleared: the table may not be used. */
  val busy = IO(Output(Bool()))

  private val part = (params.rows >> generationBits).max(1)

  private val number = RegInit(0.U(generationBits.W))
  private val row = RegInit(0.U(params.rowBits.W))
  private val left = RegInit(params.rows.U((params.rowBits + 1).W))

  generation := number
  busy := left =/= 0.U
  clear.valid := busy
  clear.bits := row

  when(busy) {
    row := row + 1.U
    left := left - 1.U
  }
  when(renew) {
    number := number + 1.U
    left := part.U
  }
}
