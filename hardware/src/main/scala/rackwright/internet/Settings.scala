package rackwright.internet

import chisel3._

/** Which stream has the datagrams to a port. */
class Binding(streamBits: Int) extends Bundle {
  val present = Bool()
  val stream = UInt(streamBits.W)
  val port = UInt(16.W)
}

/** What software sets. */
class Settings(params: Params) extends Bundle {
  val mac = UInt(48.W)
  val address = UInt(32.W)
  val mask = UInt(32.W)
  val gateway = UInt(32.W)

  /** Frames have a tag with this number. */
  val tagged = Bool()
  val vlan = UInt(12.W)

  /** Cycles between two queries for one address. */
  val interval = UInt(40.W)
  val bindings = Vec(params.bindings, new Binding(params.streamBits))

  /** All hosts of the own network, whose broadcast address this is. */
  def broadcast: UInt = address | ~mask
}
