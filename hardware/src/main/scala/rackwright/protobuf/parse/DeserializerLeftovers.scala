package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** A part of the input that is left over for the library. */
class Leftover extends Bundle {

  /** The object that it belongs to, and that of the request's message. */
  val target = UInt(DescriptorTable.addressBits.W)
  val root = UInt(DescriptorTable.addressBits.W)

  /** Where it lies in the input, and its bytes. */
  val address = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)

  /** The number of the field of which it is a value without a tag, or 0. */
  val number = UInt(29.W)
}

/** Where records of leftovers go. */
class LeftoverBounds extends Bundle {
  val start = UInt(DescriptorTable.addressBits.W)
  val end = UInt(DescriptorTable.addressBits.W)
}

/** Stores a record of each part of the input that is left over, while others go on. */
class DeserializerLeftovers(params: DeserializerParams) extends Module {
  import DeserializerLeftovers._

  /** New bounds; they are empty at first. */
  val set = IO(Flipped(Valid(new LeftoverBounds)))

  /** Not while `busy`, and only where it fits. */
  val add = IO(Flipped(Valid(new Leftover)))
  val busy = IO(Output(Bool()))
  val fits = IO(Output(Bool()))
  val store = IO(Decoupled(new Store(params.port)))

  /** Where the next record goes. */
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
