package rackwright.nic.port

import rackwright.port.{Register, RegisterMap}

/** The register map in `registers.json`. Every register has 64 bits. */
object Registers {

  /** All of them. */
  val map: RegisterMap = RegisterMap.read("nic")

  val sendRequest: Register = map("send_request")
  val receiveRequest: Register = map("receive_request")
  val sendCompletion: Register = map("send_completion")
  val receiveCompletion: Register = map("receive_completion")
  val counts: Register = map("counts")
  val macAddress: Register = map("mac_address")
  val interruptEnable: Register = map("interrupt_enable")
  val rate: Register = map("rate")
  val sendChecksum: Register = map("send_checksum")
  val receiveChecksum: Register = map("receive_checksum")
  val moderation: Register = map("moderation")

  /** Bits of an address in a request. */
  val addressBits: Int = sendRequest("address").bits
}
