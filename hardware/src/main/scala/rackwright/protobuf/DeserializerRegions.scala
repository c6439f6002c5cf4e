package rackwright.protobuf

import chisel3._
import chisel3.util._

/** Where a deserializer may put what it makes: two ranges, `objects` and `arrays`, each up to its end. */
class RegionBounds extends Bundle {
  val objects = UInt(DescriptorTable.addressBits.W)
  val objectsEnd = UInt(DescriptorTable.addressBits.W)
  val arrays = UInt(DescriptorTable.addressBits.W)
  val arraysEnd = UInt(DescriptorTable.addressBits.W)
}

/** A piece of a region, seen from who wants it: `address` and `fits` answer in the same cycle. */
class Allocation extends Bundle {
  val bytes = Output(UInt(33.W))
  val take = Output(Bool())
  val address = Input(UInt(DescriptorTable.addressBits.W))
  val fits = Input(Bool())
}

/** What is given back of a piece, seen from who gives it: all from an address on. Without `take`, in a later cycle. */
class Trim extends Bundle {
  val from = Output(Valid(UInt(DescriptorTable.addressBits.W)))
  val take = Output(Bool())
}

/** The heads of what has been handed out. */
class RegionHeads extends Bundle {
  val objects = UInt(DescriptorTable.addressBits.W)
  val strings = UInt(DescriptorTable.addressBits.W)
  val arrays = UInt(DescriptorTable.addressBits.W)

  /** Strings whose bytes lie in the arrays' region. */
  val longStrings = UInt(32.W)
}

/** Hands out memory by moving pointers: objects upward, string objects downward from the end of the same region, arrays
  * upward in the other.
  */
class DeserializerRegions(portBytes: Int) extends Module {

  /** New regions; nothing has been handed out of them. */
  val set = IO(Flipped(Valid(new RegionBounds)))

  /** An object: a multiple of 16 bytes. */
  val objects = IO(Flipped(new Allocation))

  /** A string object. */
  val strings = IO(Flipped(new Allocation))

  /** The latest string object was not made. */
  val undo = IO(Input(Bool()))

  /** The piece of the arrays' region that is taken is for a string. */
  val longString = IO(Input(Bool()))

  /** A piece of the arrays' region: a multiple of the port. */
  val arrays = IO(Flipped(new Allocation))

  /** Gives back a part of the piece of the arrays' region that was taken last. */
  val trim = IO(Flipped(new Trim))

  val heads = IO(Output(new RegionHeads))

  private val now = RegInit(0.U.asTypeOf(new RegionHeads))
  private val arraysEnd = RegInit(0.U(DescriptorTable.addressBits.W))
  heads := now

  private val afterObject = now.objects +& objects.bytes
  objects.address := now.objects
  objects.fits := afterObject <= now.strings
  when(objects.take) { now.objects := afterObject }

  private val nextString = now.strings - strings.bytes
  strings.address := nextString
  strings.fits := now.objects +& strings.bytes <= now.strings
  when(strings.take) { now.strings := nextString }.elsewhen(undo) { now.strings := now.strings + strings.bytes }

  private val freeArrays = Mux(trim.from.valid, trim.from.bits, now.arrays)
  private val afterArray = freeArrays +& arrays.bytes
  arrays.address := freeArrays
  arrays.fits := afterArray <= arraysEnd
  when(arrays.take && longString) { now.longStrings := now.longStrings + 1.U }
  when(arrays.take) { now.arrays := afterArray }.elsewhen(trim.from.valid && trim.take) { now.arrays := trim.from.bits }

  when(set.valid) {
    now.objects := set.bits.objects
    now.strings := set.bits.objectsEnd
    now.arrays := Cat((set.bits.arrays +& (portBytes - 1).U) >> log2Ceil(portBytes), 0.U(log2Ceil(portBytes).W))
    now.longStrings := 0.U
    arraysEnd := set.bits.arraysEnd
  }
}
