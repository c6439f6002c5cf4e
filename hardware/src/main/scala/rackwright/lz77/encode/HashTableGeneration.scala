package rackwright.lz77.encode

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

  /** Row to clear in every bank in this cycle; the last of them in the last cycle of `busy`. */
  val clear = IO(Valid(UInt(params.rowBits.W)))

  /** Rows are being cleared: the table may not be used. */
  val busy = IO(Output(Bool()))

  private val part = (params.rows >> generationBits).max(1)

  private val number = RegInit(0.U(generationBits.W))
  private val row = RegInit(0.U(params.rowBits.W))

  /** Cycles until the table may be used: one for each row, and one until the banks have cleared the last. */
  private val left = RegInit((params.rows + 1).U((params.rowBits + 1).W))
  private val pending = RegInit(true.B)
  private val clearing = pending && left =/= 1.U

  generation := number
  busy := pending
  // What every bank hears comes from a register of its own: whoever waits for `busy` does not wait for that fan-out.
  clear.valid := RegNext(clearing, false.B)
  clear.bits := RegNext(row)

  when(pending) {
    left := left - 1.U
    pending := clearing
  }
  when(clearing) {
    row := row + 1.U
  }
  when(renew) {
    number := number + 1.U
    left := (part + 1).U
    pending := true.B
  }
}
