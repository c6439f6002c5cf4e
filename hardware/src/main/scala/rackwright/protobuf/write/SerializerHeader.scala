package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** The parts of a table's header that the serializer needs (README.md). */
class SerializerHeader extends Bundle {

  /** Size of an object in bytes. */
  val bytes = UInt(32.W)

  /** Offset of the hasbits. */
  val hasbits = UInt(32.W)

  val list = UInt(DescriptorTable.addressBits.W)
  val entries = UInt(SerializerList.countBits.W)

  /** Objects consist only of fields, without metadata. */
  val isBare = Bool()
}

/** Decodes headers. */
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

  /** The table or its list cannot be read. */
  def isWild(row: SerializerRow): Bool = row.fault || (row.word(5) >> addressBits).orR

  /** Only the library can serialize the type. */
  def isForeign(row: SerializerRow, table: UInt): Bool = {
    val isLong = row.word(6)(31, 0) > DescriptorTable.maximumEntries.U
    row.word(6)(32) || isLong || table(5, 0).orR || row.word(5)(5, 0).orR
  }
}

/** A cache of the latest headers. */
class SerializerHeaders extends Module {
  private val kept = 8

  val table = IO(Input(UInt(DescriptorTable.addressBits.W)))

  /** The header of this table, if it is cached. */
  val found = IO(Valid(new SerializerHeader))

  /** Cache this as the header of the table. */
  val put = IO(Flipped(Valid(new SerializerHeader)))

  /** Invalidate all headers. */
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
