package rackwright.internet

import chisel3._
import chisel3.util.log2Ceil

/** What became of a received frame: each has one of these, and one counter counts it. */
object Cause {

  /** In the order of their codes, which is also that of the counters. */
  val names: Seq[String] = Seq(
    "delivered",
    "echoed",
    "arp",
    "dropped_short",
    "dropped_mac",
    "dropped_vlan",
    "dropped_ethertype",
    "dropped_arp",
    "dropped_header",
    "dropped_length",
    "dropped_checksum",
    "dropped_fragment",
    "dropped_source",
    "dropped_destination",
    "dropped_protocol",
    "dropped_icmp",
    "dropped_icmp_checksum",
    "dropped_udp_length",
    "dropped_udp_checksum",
    "dropped_port",
    "dropped_full"
  )

  /** Width of a code. */
  val width: Int = log2Ceil(names.size)

  /** The code of the frames that nothing is wrong with so far. */
  val none: UInt = 0.U(width.W)

  /** The code of a name. */
  def apply(name: String): UInt = {
    require(names.contains(name), s"no frame ends as $name")
    names.indexOf(name).U(width.W)
  }

  /** The first cause that holds, the earlier ones of a frame before. */
  def first(before: UInt, causes: (Bool, String)*): UInt =
    Mux(before =/= none, before, causes.foldRight(none) { case ((holds, name), rest) => Mux(holds, Cause(name), rest) })
}
