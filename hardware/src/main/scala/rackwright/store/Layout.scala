package rackwright.store

import chisel3._
import chisel3.util._

/** The unit of places and sizes in a region: 32 bytes. */
object Grain {
  val bytes: Int = 32
  val shift: Int = log2Ceil(bytes)
  val words: Int = bytes / 8

  /** Width of a place: a region has at most 128 GiB. */
  val placeBits: Int = 32

  /** Grains before the buckets: header, usage, heads of the free lists, and reserved ones. */
  val table: Int = 16

  /** The grain that holds the usage of the region. */
  val usage: Int = 1

  /** The first grain with heads of free lists, eight in each. */
  val freeHeads: Int = 2

  /** The byte of the first grain that says whether a flush is pending. */
  val flushByte: Int = 29

  /** The address of a place: one adder. */
  def address(base: UInt, place: UInt): UInt = base + Cat(place, 0.U(shift.W))
}

/** Limits of keys and values. */
object Limits {
  val keyBytes: Int = 250
  val keyBits: Int = 8
  val keyWords: Int = (keyBytes + 7) / 8
  val keyLines: Int = (keyWords + Grain.words - 1) / Grain.words
  val lineBits: Int = log2Ceil(keyLines)
  val valueBytes: Int = 1 << 20
  val valueBits: Int = 21

  /** Width of the number of grains of an item. */
  val sizeBits: Int = 17

  /** The largest number of items in a chain that a lookup visits. */
  val steps: Int = 4095
}

/** The parameters of the current region, from its first grain. */
class Region extends Bundle {
  val base = UInt(64.W)
  val hashKey = Vec(2, UInt(64.W))
  val total = UInt(Grain.placeBits.W)

  /** A mask for the bits of a bucket index. */
  val bucketMask = UInt(Region.mostBucketBits.W)

  /** The first grain that may belong to an item. */
  val firstItem = UInt(Grain.placeBits.W)

  /** The time in seconds at which items expire. */
  val time = UInt(32.W)

  /** Whether an item may begin at this place. */
  def holds(place: UInt): Bool = place >= firstItem && place < total
}

object Region {

  /** The first four bytes of a region: RWS, and the version of the layout. */
  val magic: BigInt = BigInt(1, "RWS\u0002".reverse.map(_.toByte).toArray)
  val leastBucketBits: Int = 3
  val mostBucketBits: Int = 28
}

/** The grain that holds the usage of a region. */
class Usage extends Bundle {
  val reserved = UInt(64.W)

  /** Counts the items that were ever stored. */
  val version = UInt(64.W)
  val items = UInt(64.W)

  /** The time from which on no item exists, if a flush is pending. */
  val flushTime = UInt(32.W)

  /** The first grain that was never allocated. */
  val used = UInt(Grain.placeBits.W)
}

/** The first grain of an item. */
class ItemHeader extends Bundle {

  /** The time from which on the item does not exist any more; 0: none. */
  val expiry = UInt(32.W)
  val versionLow = UInt(32.W)
  val seal = UInt(16.W)
  val versionHigh = UInt((ItemHeader.versionBits - 32).W)
  val keyBytes = UInt(8.W)
  val flags = UInt(32.W)
  val grains = UInt(32.W)
  val valueBytes = UInt(32.W)

  /** The upper half of the key's hash. */
  val hash = UInt(32.W)

  /** The place of the next item of its bucket or free list, or 0. */
  val next = UInt(Grain.placeBits.W)

  def version: UInt = Cat(versionHigh, versionLow)
}

object ItemHeader {

  /** Of the number of an item, in the order in which items are stored. */
  val versionBits: Int = 40

  /** Distinguishes an item from other bytes, and an allocated item from a free one. */
  val used: UInt = 0x4b56.U(16.W)
  val free: UInt = 0x4656.U(16.W)
}

/** The first 16 bytes of a request. */
class RequestHeader extends Bundle {
  val tag = UInt(32.W)
  val flags = UInt(32.W)
  val valueBytes = UInt(32.W)
  val keyBytes = UInt(16.W)
  val operation = UInt(16.W)
}

object RequestHeader {
  val bytes: Int = 16
  val get: UInt = 0.U(16.W)
  val set: UInt = 1.U(16.W)
  val delete: UInt = 2.U(16.W)

  /** A set, if the key does not exist. */
  val add: UInt = 3.U(16.W)

  /** A set, if the key exists. */
  val replace: UInt = 4.U(16.W)

  /** A set, if the item has the expected version, which precedes the key in the request. */
  val compareAndSet: UInt = 5.U(16.W)

  /** A get whose response has the version of the item before the value. */
  val getVersion: UInt = 6.U(16.W)
  val versionBytes: Int = 8

  /** Changes the expiry of the item. */
  val touch: UInt = 7.U(16.W)

  /** Adds a number to the one that the value is, or subtracts it; it precedes the key in the request. */
  val increment: UInt = 8.U(16.W)
  val decrement: UInt = 9.U(16.W)

  /** Adds bytes behind the value, or in front of it. */
  val append: UInt = 10.U(16.W)
  val prepend: UInt = 11.U(16.W)

  /** Removes all items, now or from a time on; counts the items. These have no key. */
  val flush: UInt = 12.U(16.W)
  val count: UInt = 13.U(16.W)

  /** A bit beside the operation: an expiry precedes the key, behind the number, if there is one. */
  val expiryBit: Int = 15

  /** The operation does not change the store. */
  def reads(operation: UInt): Bool = operation === get || operation === getVersion

  /** The operation has a value. */
  def stores(operation: UInt): Bool =
    Seq(set, add, replace, compareAndSet).map(_ === operation).reduce(_ || _) || joins(operation)

  /** The new value contains the current one. */
  def joins(operation: UInt): Bool = operation === append || operation === prepend

  /** The operation is for all items. */
  def isForAll(operation: UInt): Bool = operation === flush || operation === count

  /** The value is a number. */
  def counts(operation: UInt): Bool = operation === increment || operation === decrement

  /** A number of 8 bytes precedes the key: an expected version, or what is added or subtracted. */
  def leads(operation: UInt): Bool = operation === compareAndSet || counts(operation)
}

/** The outcome of a request. */
object Outcome {
  val bits: Int = 3
  val ok: UInt = 0.U(bits.W)

  /** The key does not exist. */
  val missing: UInt = 1.U(bits.W)

  /** The key is empty or too long, or the value is too long. */
  val tooLong: UInt = 2.U(bits.W)

  /** There is no memory for the item. */
  val noMemory: UInt = 3.U(bits.W)

  /** The chain of the bucket contains an invalid item. */
  val broken: UInt = 4.U(bits.W)

  /** There is no such operation. */
  val unknown: UInt = 5.U(bits.W)

  /** Memory refused an access. */
  val accessFault: UInt = 6.U(bits.W)

  /** The key exists, or its item has another version, or its value is not a number. */
  val exists: UInt = 7.U(bits.W)
}

/** A response: a header of 16 bytes, a version, number or count of 8 bytes if it was requested, and a value. */
class Response extends Bundle {
  val version = UInt(64.W)
  val hasVersion = Bool()
  val tag = UInt(32.W)
  val flags = UInt(32.W)
  val valueBytes = UInt(Limits.valueBits.W)
  val operation = UInt(16.W)
  val status = UInt(Outcome.bits.W)

  /** The first grain of the value. */
  val valuePlace = UInt(Grain.placeBits.W)

  def header: UInt = Cat(version, tag, flags, valueBytes.pad(32), operation, status.pad(16))
}
