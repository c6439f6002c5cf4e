package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

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

/** What is given back of a piece, seen from who gives it: all from an address on. Without `take`, not yet. */
class Trim extends Bundle {
  val from = Output(Valid(UInt(DescriptorTable.addressBits.W)))
  val take = Output(Bool())
}

/** The heads of what has been handed out. */
class RegionHeads extends Bundle {
  val objects = UInt(DescriptorTable.addressBits.W)
  val strings = UInt(DescriptorTable.addressBits.W)
  val arrays = UInt(DescriptorTable.addressBits.W)
  val texts = UInt(DescriptorTable.addressBits.W)

  /** Strings whose bytes lie in the arrays' region. */
  val longStrings = UInt(32.W)
}

/** What is known of regions before anything has been handed out. */
object RegionHeads {
  def of(bounds: RegionBounds): RegionHeads = {
    val heads = Wire(new RegionHeads)
    heads.objects := bounds.objects
    // A string object lies in one beat of any port.
    heads.strings := Cat(
      bounds.objectsEnd >> log2Ceil(DeserializerStrings.objectBytes),
      0.U(log2Ceil(DeserializerStrings.objectBytes).W)
    )
    heads.arrays := bounds.arrays
    heads.texts := bounds.arraysEnd
    heads.longStrings := 0.U
    heads
  }
}

/** Hands out memory by moving pointers: objects upward, string objects downward from the end of the same region; in the
  * other, arrays upward and the bytes of long strings downward. So an array whose elements are strings stays the last
  * one and grows where it is.
  */
class DeserializerRegions(portBytes: Int) extends Module {

  /** New regions; nothing has been handed out of them. */
  val set = IO(Flipped(Valid(new RegionBounds)))

  /** An object: a multiple of the port. */
  val objects = IO(Flipped(new Allocation))

  /** A string object. */
  val strings = IO(Flipped(new Allocation))

  /** The latest string object, which may be taken in this cycle, was not made. */
  val undo = IO(Input(Bool()))

  /** An array: a multiple of the port. */
  val arrays = IO(Flipped(new Allocation))

  /** The bytes of a long string: a multiple of the port. */
  val texts = IO(Flipped(new Allocation))

  /** Gives back a part of the array that was taken last. */
  val trim = IO(Flipped(new Trim))

  val heads = IO(Output(new RegionHeads))

  private def beatAt(address: UInt): UInt = Cat(address >> log2Ceil(portBytes), 0.U(log2Ceil(portBytes).W))
  private val now = RegInit(0.U.asTypeOf(new RegionHeads))
  heads := now

  private val afterObject = now.objects +& objects.bytes
  objects.address := now.objects
  objects.fits := afterObject <= now.strings
  when(objects.take) { now.objects := afterObject }

  private val nextString = now.strings - strings.bytes
  strings.address := nextString
  strings.fits := now.objects +& strings.bytes <= now.strings
  when(strings.take && !undo) { now.strings := nextString }.elsewhen(undo && !strings.take) {
    now.strings := now.strings + strings.bytes
  }

  private val afterArray = now.arrays +& arrays.bytes
  arrays.address := now.arrays
  arrays.fits := afterArray <= now.texts
  when(arrays.take) { now.arrays := afterArray }.elsewhen(trim.from.valid && trim.take) { now.arrays := trim.from.bits }

  private val nextText = now.texts - texts.bytes
  texts.address := nextText
  texts.fits := now.arrays +& texts.bytes <= now.texts
  when(texts.take) {
    now.texts := nextText
    now.longStrings := now.longStrings + 1.U
  }

  when(set.valid) {
    now := RegionHeads.of(set.bits)
    now.objects := beatAt(set.bits.objects +& (portBytes - 1).U)
    now.arrays := beatAt(set.bits.arrays +& (portBytes - 1).U)
    now.texts := beatAt(set.bits.arraysEnd)
  }
}
