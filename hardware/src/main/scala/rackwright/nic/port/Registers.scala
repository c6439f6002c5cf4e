package rackwright.nic.port

/** The register map; README.md says what the fields mean. Every register has 64 bits. */
object Registers {
  val sendRequest: Int = 0x00
  val receiveRequest: Int = 0x08
  val sendCompletion: Int = 0x10
  val receiveCompletion: Int = 0x18
  val counts: Int = 0x20
  val macAddress: Int = 0x28
  val interruptEnable: Int = 0x30
  val rate: Int = 0x38
  val sendChecksum: Int = 0x40
  val receiveChecksum: Int = 0x48
  val moderation: Int = 0x50

  /** The first of the counters; the others follow in the order of [[Counters.names]]. */
  val firstCounter: Int = 0x80

  /** Bits of an address in a request; the length is above it. */
  val addressBits: Int = 48

  /** Bit of a completion that says that there was one. */
  val validBit: Int = 63
}
