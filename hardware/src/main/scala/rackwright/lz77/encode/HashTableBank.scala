package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import rackwright.memory.WriteFirstMemory

/** The update of a set by an access of a bank.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashReplacement(val params: EncoderParams) extends Bundle {
  val way = UInt(params.wayBits.W)
  val entry = UInt(new HashEntry(params).getWidth.W)
}

/** One memory of the hash table per way. A set is read and one of its ways replaced per cycle: the result contains the
  * entries of all earlier accesses, not that of its own.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTableBank(params: EncoderParams) extends Module {
  private val entryBits = new HashEntry(params).getWidth

  /** The row of the set to read. */
  val access = IO(Flipped(Valid(UInt(params.rowBits.W))))

  /** The entry for the set accessed in the cycle before. */
  val replacement = IO(Input(new HashReplacement(params)))

  /** A row to invalidate in all ways; not in the cycle after an access. */
  val clear = IO(Flipped(Valid(UInt(params.rowBits.W))))

  /** The ways of the set accessed in the previous cycle, way 0 lowest. */
  val read = IO(Output(UInt((params.hashWays * entryBits).W)))

  private val accessed = RegNext(access.valid, false.B)
  private val row = RegEnable(access.bits, access.valid)

  private val ways = Seq.fill(params.hashWays)(Module(new WriteFirstMemory(params.rows, entryBits)))
  read := Cat(ways.reverse.map(_.data))
  for ((memory, way) <- ways.zipWithIndex) {
    val chosen = if (params.hashWays == 1) true.B else replacement.way === way.U
    memory.read := access
    memory.write.valid := accessed && chosen || clear.valid
    memory.write.bits.address := Mux(clear.valid, clear.bits, row)
    memory.write.bits.data := Mux(clear.valid, 0.U, replacement.entry)
  }
}
