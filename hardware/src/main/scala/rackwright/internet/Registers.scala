package rackwright.internet

/** The register map; README.md says what the fields mean. Every register has 64 bits. */
object Registers {
  val mac: Int = 0x00
  val address: Int = 0x08
  val mask: Int = 0x10
  val gateway: Int = 0x18
  val vlan: Int = 0x20
  val interval: Int = 0x28

  /** A write forgets all addresses. */
  val flush: Int = 0x30

  /** The first entry of the table of ports. */
  val firstBinding: Int = 0x80

  /** The first of the counters; the others follow in the order of [[Counters.names]]. */
  val firstCounter: Int = 0x100
}
