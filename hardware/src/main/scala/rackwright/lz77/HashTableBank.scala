package rackwright.lz77

import chisel3._
import chisel3.util._

/** Read a set and replace one of its ways.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashBankAccess(val params: EncoderParams) extends Bundle {
  val row = UInt(params.rowBits.W)
  val way = UInt(params.wayBits.W)
  val entry = UInt(new HashEntry(params).getWidth.W)
}

/** One memory of the hash table per way. A set is read and one of its ways replaced per cycle: what is read holds the
  * entries of all earlier accesses, not that of its own.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTableBank(params: EncoderParams) extends Module {
  private val entryBits = new HashEntry(params).getWidth

  val access = IO(Flipped(Valid(new HashBankAccess(params))))

  /** A row to make void in all ways; not in the cycle after an access. */
  val clear = IO(Flipped(Valid(UInt(params.rowBits.W))))

  /** The ways of the set accessed in the cycle before, way 0 lowest. */
  val read = IO(Output(UInt((params.hashWays * entryBits).W)))

  // Written a cycle after it is read.
  private val pending = RegNext(access.valid, false.B)
  private val replacing = RegEnable(access.bits, access.valid)

  private val ways = Seq.fill(params.hashWays)(Module(new WriteFirstMemory(params.rows, entryBits)))
  read := Cat(ways.reverse.map(_.data))
  for ((memory, way) <- ways.zipWithIndex) {
    val chosen = if (params.hashWays == 1) true.B else replacing.way === way.U
    memory.read.valid := access.valid
    memory.read.bits := access.bits.row
    memory.write.valid := pending && chosen || clear.valid
    memory.write.bits.address := Mux(clear.valid, clear.bits, replacing.row)
    memory.write.bits.data := Mux(clear.valid, 0.U, replacing.entry)
  }
}
