package rackwright.store

import chisel3._
import chisel3.util._

/** What a lookup reads next. */
object Step extends ChiselEnum {
  val bucket, header, key = Value
}

/** What a lookup knows from its request. */
class Sought extends Bundle {
  val hash = UInt(32.W)

  /** The index of the bucket in its grain. */
  val lane = UInt(3.W)
  val keyBytes = UInt(Limits.keyBits.W)
  val operation = UInt(16.W)
  val tag = UInt(32.W)
  val refused = Bool()
}

/** The progress of a lookup. */
class Walk extends Bundle {
  val step = Step()
  val line = UInt(Limits.lineBits.W)

  /** The place of the current item, of its predecessor in the chain, and of its successor; 0 for none. */
  val item = UInt(Grain.placeBits.W)
  val previous = UInt(Grain.placeBits.W)
  val next = UInt(Grain.placeBits.W)
  val items = UInt(12.W)
  val grains = UInt(Limits.sizeBits.W)
  val valueBytes = UInt(Limits.valueBits.W)
  val flags = UInt(32.W)
  val version = UInt(ItemHeader.versionBits.W)
  val expiry = UInt(32.W)
  val expired = Bool()
  val status = UInt(Outcome.bits.W)
}

/** A grain to read for a lookup. */
class Ask(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val place = UInt(Grain.placeBits.W)
}

/** The response of memory for a lookup, together with the state of the lookup. */
class Answered(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val data = UInt((8 * Grain.bytes).W)
  val fault = Bool()
  val sought = new Sought
  val walk = new Walk

  def header: ItemHeader = data.asTypeOf(new ItemHeader)

  /** The place of the next item in the chain. */
  def behind: UInt = {
    val heads = VecInit.tabulate(8)(lane => data(32 * lane + 31, 32 * lane))
    MuxLookup(walk.step, walk.next)(Seq(Step.bucket -> heads(sought.lane), Step.header -> header.next))
  }

  /** Whether an item can be at this place; for the step `header`. */
  def isItem(region: Region): Bool = {
    val value = (header.valueBytes(Limits.valueBits - 1, 0) +& (Grain.bytes - 1).U) >> Grain.shift
    val key = (header.keyBytes +& (Grain.bytes - 1).U) >> Grain.shift
    val fits = header.valueBytes <= Limits.valueBytes.U && value +& key < header.grains
    val ends = header.grains >> Limits.sizeBits === 0.U && walk.item +& header.grains <= region.total
    header.seal === ItemHeader.used && fits && ends
  }

  /** Whether an item with this header does not exist any more. */
  def isExpired(region: Region): Bool = header.expiry =/= 0.U && header.expiry <= region.time

  /** Whether hash and length of the key match. */
  def isLike: Bool = header.hash === sought.hash && header.keyBytes === sought.keyBytes
}

/** A response, and the decision that follows from it. */
class Judged(params: Params) extends Bundle {
  val answered = new Answered(params)
  val behind = UInt(Grain.placeBits.W)
  val isEnd = Bool()
  val isInside = Bool()
  val isItem = Bool()
  val isLike = Bool()
  val isExpired = Bool()
  val isEqual = Bool()
}

/** The outcome of a lookup. */
class Found extends Bundle {
  val sought = new Sought
  val walk = new Walk

  /** The lookup is the first part of a change. */
  def changes: Bool = !RequestHeader.reads(sought.operation) && !sought.refused

  /** The request is for all items. */
  def isForAll: Bool = sought.refused && walk.status === Outcome.ok

  /** There is an item, and it has not expired. */
  def exists: Bool = walk.status === Outcome.ok && !walk.expired

  /** The response to the request. */
  def response: Response = {
    val made = Wire(new Response)
    val exists = this.exists
    made.version := walk.version
    made.hasVersion := exists && sought.operation === RequestHeader.getVersion
    made.tag := sought.tag
    made.operation := sought.operation
    made.status := Mux(walk.status === Outcome.ok && !exists, Outcome.missing, walk.status)
    made.flags := Mux(exists, walk.flags, 0.U)
    made.valueBytes := Mux(exists, walk.valueBytes, 0.U)
    made.valuePlace := walk.item + 1.U + ((sought.keyBytes +& (Grain.bytes - 1).U) >> Grain.shift)
    made
  }
}
