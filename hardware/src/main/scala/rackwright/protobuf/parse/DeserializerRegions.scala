package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** The memory for parsed messages: two ranges, `objects` and `arrays`, each with its end. */
class RegionBounds extends Bundle {
  val objects = UInt(DescriptorTable.addressBits.W)
  val objectsEnd = UInt(DescriptorTable.addressBits.W)
  val arrays = UInt(DescriptorTable.addressBits.W)
  val arraysEnd = UInt(DescriptorTable.addressBits.W)
}

/** The requester's side of an allocation: `address` and `fits` are combinational. */
class Allocation extends Bundle {
  val bytes = Output(UInt(33.W))
  val take = Output(Bool())
  val address = Input(UInt(DescriptorTable.addressBits.W))
  val fits = Input(Bool())
}

/** Releases the end of an allocation, from an address on; seen from the requester. The memory is released with `take`.
  */
class Trim extends Bundle {
  val from = Output(Valid(UInt(DescriptorTable.addressBits.W)))
  val take = Output(Bool())
}

/** The allocation pointers. */
class RegionHeads extends Bundle {
  val objects = UInt(DescriptorTable.addressBits.W)
  val strings = UInt(DescriptorTable.addressBits.W)
  val arrays = UInt(DescriptorTable.addressBits.W)
  val texts = UInt(DescriptorTable.addressBits.W)

  /** Number of strings whose characters are in the array region. */
  val longStrings = UInt(32.W)
}

/** The allocation pointers of empty regions. */
object RegionHeads {
  def of(bounds: RegionBounds): RegionHeads = {
    val heads = Wire(new RegionHeads)
    heads.objects := bounds.objects
    // A string object lies within one beat of any port.
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

/** Bump allocators. In one region, objects grow upward from its start, and string objects downward from its end; in the
  * other, arrays grow upward, and the characters of long strings downward. An array of string pointers thus remains the
  * last array while its strings are allocated, and can grow in place.
  */
class DeserializerRegions(portBytes: Int) extends Module {

  /** New regions, which are empty. */
  val set = IO(Flipped(Valid(new RegionBounds)))

  /** An object: a multiple of the port's width. */
  val objects = IO(Flipped(new Allocation))

  /** A string object. */
  val strings = IO(Flipped(new Allocation))

  /** The string object that was allocated last, possibly in this cycle, is not used. */
  val undo = IO(Input(Bool()))

  /** An array: a multiple of the port's width. */
  val arrays = IO(Flipped(new Allocation))

  /** The characters of a long string: a multiple of the port's width. */
  val texts = IO(Flipped(new Allocation))

  /** Releases the end of the array that was allocated last. */
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
