package rackwright.pcie

import chisel3._
import chisel3.util._

/** The header of a packet as its four words, with the bits as in the specification (PCI Express 5.0, 2.2): bit 31 of
  * word 0 is the first on the wire. A header of three words leaves the last one 0.
  */
class Header extends Bundle {
  val words = Vec(4, UInt(32.W))

  def kind: UInt = words(0)(31, 24)
  def hasData: Bool = words(0)(30)
  def isLong: Bool = words(0)(29)
  def isMemory: Bool = words(0)(28, 24) === 0.U
  def isConfiguration: Bool = words(0)(28, 24) === 4.U
  def isCompletion: Bool = words(0)(28, 24) === 10.U
  def isMessage: Bool = words(0)(28, 27) === 2.U

  /** Whether it is posted; requests that are not posted get a completion. */
  def isPosted: Bool = isMemory && hasData || isMessage
  def trafficClass: UInt = words(0)(22, 20)
  def attributes: UInt = words(0)(13, 12)
  def isPoisoned: Bool = words(0)(14)

  /** Words of the payload, or of the request; 0 stands for 1024. */
  def length: UInt = words(0)(9, 0)

  /** The same, as a number. */
  def lengthInWords: UInt = Cat(length === 0.U, length)

  /** Of a request. */
  def requester: UInt = words(1)(31, 16)
  def requestTag: UInt = Cat(words(0)(23), words(0)(19), words(1)(15, 8))
  def byteEnables: UInt = words(1)(7, 0)
  def address: UInt = Mux(isLong, Cat(words(2), words(3)(31, 2)), Cat(0.U(32.W), words(2)(31, 2))) ## 0.U(2.W)

  /** Of a completion. */
  def status: UInt = words(1)(15, 13)
  def byteCount: UInt = Cat(words(1)(11, 0) === 0.U, words(1)(11, 0))
  def completionTag: UInt = Cat(words(0)(23), words(0)(19), words(2)(15, 8))
  def lowerAddress: UInt = words(2)(6, 0)
}

object Header {

  /** Statuses of completions (2.2.9.1). */
  val successful: UInt = 0.U(3.W)
  val unsupported: UInt = 1.U(3.W)

  /** Kinds of packets: the first byte (2.2.1). */
  object Kind {
    val read32: UInt = 0x00.U(8.W)
    val read64: UInt = 0x20.U(8.W)
    val write32: UInt = 0x40.U(8.W)
    val write64: UInt = 0x60.U(8.W)
    val completion: UInt = 0x0a.U(8.W)

    /** Of four words, to the root complex. */
    val message: UInt = 0x30.U(8.W)
    val completionWithData: UInt = 0x4a.U(8.W)
  }

  /** The header in the first beat of a packet. */
  def ofBeat(data: UInt): Header = {
    val header = Wire(new Header)
    header.words.zipWithIndex.foreach { case (word, i) => word := reversed(data(32 * i + 31, 32 * i)) }
    header
  }

  /** The first beat of a packet. */
  def toBeat(header: Header): UInt = Cat(header.words.reverse.map(reversed))

  /** A memory request for `length` whole words. */
  def request(write: Boolean, requester: UInt, tag: UInt, address: UInt, words: UInt): Header = {
    val header = Wire(new Header)
    val high = address(63, 32)
    val long = high =/= 0.U
    val (short, wide) = if (write) (Kind.write32, Kind.write64) else (Kind.read32, Kind.read64)
    header.words(0) := Cat(Mux(long, wide, short), 0.U(14.W), words(9, 0))
    header.words(1) := Cat(requester, tag.pad(8)(7, 0), Mux(words === 1.U, 0.U(4.W), "hf".U(4.W)), "hf".U(4.W))
    header.words(2) := Mux(long, high, address(31, 0))
    header.words(3) := Mux(long, address(31, 0), 0.U)
    header
  }

  private def reversed(word: UInt): UInt = Cat(word(7, 0), word(15, 8), word(23, 16), word(31, 24))
}
