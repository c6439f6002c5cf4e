package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** A part of the input that is left to the library. */
class Leftover extends Bundle {

  /** The object that it belongs to, and the object of the top-level message. */
  val target = UInt(DescriptorTable.addressBits.W)
  val root = UInt(DescriptorTable.addressBits.W)

  /** Its address and its length in bytes. */
  val address = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)

  /** For a value without a tag: its field number, else 0. */
  val number = UInt(29.W)
}

/** The memory for leftover records. */
class LeftoverBounds extends Bundle {
  val start = UInt(DescriptorTable.addressBits.W)
  val end = UInt(DescriptorTable.addressBits.W)
}

/** Stores a record for each leftover, while parsing continues. */
class DeserializerLeftovers(params: DeserializerParams) extends Module {
  import DeserializerLeftovers._

  /** New bounds; no memory is available before the first. */
  val set = IO(Flipped(Valid(new LeftoverBounds)))

  /** Only while not `busy`, and only if the record fits. */
  val add = IO(Flipped(Valid(new Leftover)))
  val busy = IO(Output(Bool()))
  val fits = IO(Output(Bool()))
  val store = IO(Decoupled(new Store(params.port)))

  /** Address of the next record. */
  val head = IO(Output(UInt(DescriptorTable.addressBits.W)))

  private val next = RegInit(0.U(DescriptorTable.addressBits.W))
  private val end = RegInit(0.U(DescriptorTable.addressBits.W))
  private val waiting = RegInit(false.B)
  private val second = RegInit(false.B)
  private val now = Reg(new Leftover)
  head := next
  busy := waiting
  fits := next < end

  private val lineBytes = DescriptorTable.lineBytes
  private val first = Cat(now.address.pad(64), now.target.pad(64))
  private val rest = Cat(now.root.pad(64), now.number.pad(32), now.length)
  store.valid := waiting
  store.bits := Store.line(params.port, next + Mux(second, lineBytes.U, 0.U), Mux(second, rest, first))
  when(store.fire) {
    second := !second
    when(second) {
      waiting := false.B
      next := next + recordBytes.U
    }
  }
  when(add.valid) {
    now := add.bits
    waiting := true.B
  }
  when(set.valid) {
    next := set.bits.start
    end := set.bits.end
  }
}

/** Layout of records. */
object DeserializerLeftovers {
  val recordBytes: Int = 32
}
