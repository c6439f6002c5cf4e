package rackwright.port

import chisel3._
import chisel3.util._

/** Shape of a memory port (contract 3).
  *
  * @param bytes
  *   bytes of one beat; addresses are multiples of it. 16 or 32.
  * @param tagBits
  *   width of the tag; at most 2^tagBits requests are outstanding.
  * @param addressBits
  *   width of an address.
  * @param watch
  *   whether a read may wait until memory changes.
  */
case class MemoryPortParams(bytes: Int, tagBits: Int = 6, addressBits: Int = 64, watch: Boolean = false) {
  require(Set(16, 32).contains(bytes), s"a memory port moves 16 or 32 bytes per beat, not $bytes")
  require(tagBits >= 1 && tagBits <= 8, s"a tag has 1 to 8 bits, not $tagBits")
  require(addressBits >= 32 && addressBits <= 64, s"an address has 32 to 64 bits, not $addressBits")

  val outstanding: Int = 1 << tagBits
  val offsetBits: Int = log2Ceil(bytes)
}

/** A request for one beat. `mask` has one bit per byte and matters for writes and watches only. */
class MemoryRequest(val params: MemoryPortParams) extends Bundle {
  val address = UInt(params.addressBits.W)
  val write = Bool()

  /** A read whose response is sent when the bytes of `mask` in memory differ from `data`. */
  val watch = Option.when(params.watch)(Bool())
  val data = UInt((8 * params.bytes).W)
  val mask = UInt(params.bytes.W)
  val tag = UInt(params.tagBits.W)

  /** Requests the beat at `place`, a multiple of its size. */
  def read(place: UInt, number: UInt): Unit = {
    address := place
    write := false.B
    watch.foreach(_ := false.B)
    data := 0.U
    mask := 0.U
    tag := number
  }
}

/** The answer to one beat. Every request, read or write, is answered once, in any order. */
class MemoryResponse(val params: MemoryPortParams) extends Bundle {
  val tag = UInt(params.tagBits.W)
  val data = UInt((8 * params.bytes).W)
  val fault = Bool()
}

/** A memory port as seen from the requesting unit. A tag may be used again once its response has been taken. */
class MemoryPort(val params: MemoryPortParams) extends Bundle {
  val request = Decoupled(new MemoryRequest(params))
  val response = Flipped(Decoupled(new MemoryResponse(params)))
}
