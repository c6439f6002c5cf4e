package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** The header of a table, as far as the serializer needs it (README.md). */
class SerializerHeader extends Bundle {

  /** Bytes of an object. */
  val bytes = UInt(32.W)

  /** Offset of the hasbits. */
  val hasbits = UInt(32.W)

  val list = UInt(DescriptorTable.addressBits.W)
  val entries = UInt(SerializerList.countBits.W)

  /** Objects are nothing but fields: they have no metadata. */
  val isBare = Bool()
}

/** Reading of headers. */
object SerializerHeader {
  private val addressBits = DescriptorTable.addressBits

  def of(row: SerializerRow): SerializerHeader = {
    val header = Wire(new SerializerHeader)
    header.bytes := row.word(1)(31, 0)
    header.hasbits := row.word(2)(31, 0)
    header.list := row.word(5)(addressBits - 1, 0)
    header.entries := row.word(6)(31, 0)
    header.isBare := row.word(6)(34)
    header
  }

  /** The table or its list can't be read. */
  def isWild(row: SerializerRow): Bool = row.fault || (row.word(5) >> addressBits).orR

  /** The type is the library's. */
  def isForeign(row: SerializerRow, table: UInt): Bool = {
    val isLong = row.word(6)(31, 0) > DescriptorTable.maximumEntries.U
    row.word(6)(32) || isLong || table(5, 0).orR || row.word(5)(5, 0).orR
  }
}

/** Keeps the headers of some types, the latest that were read. */
class SerializerHeaders extends Module {
  private val kept = 8

  val table = IO(Input(UInt(DescriptorTable.addressBits.W)))

  /** The header of that table, if it is here. */
  val found = IO(Valid(new SerializerHeader))

  /** Keep this as the header of that table. */
  val put = IO(Flipped(Valid(new SerializerHeader)))

  /** Forget all. */
  val clear = IO(Input(Bool()))

  private val valid = RegInit(0.U(kept.W))
  private val tables = Reg(Vec(kept, UInt(DescriptorTable.addressBits.W)))
  private val headers = Reg(Vec(kept, new SerializerHeader))
  private val (next, _) = Counter(put.valid, kept)
  private val hits = VecInit(tables.zipWithIndex.map { case (known, index) => valid(index) && known === table })
  found.valid := hits.asUInt.orR
  found.bits := Mux1H(hits, headers)
  when(put.valid) {
    tables(next) := table
    headers(next) := put.bits
    valid := valid | UIntToOH(next, kept)
  }
  when(clear) { valid := 0.U }
}
