package rackwright.internet

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The network unit in the list of units. */
object NetworkDescription extends UnitDescription {
  private val default = Params()

  val name: String = "network"
  val summary: String = "Ethernet, ARP, IPv4, ICMP echo and UDP between a 100 Gbit/s network and streams of data."
  val status: String = "ready, by itself"

  val parameters: Seq[Parameter] = Seq(
    Parameter.integer("streams", default.streams, 1 to 4, "pairs of stream ports with the data of UDP"),
    Parameter.powerOfTwo("bindings", default.bindings, 1, 16, "entries of the table from ports of UDP to streams"),
    Parameter.powerOfTwo("buffer-kib", default.bufferKib, 16, 256, "size of the buffer of a stream, each way, in KiB"),
    Parameter.choice("mtu", default.mtu, Seq(1500, 9000), "bytes of the longest Internet packet that is sent"),
    Parameter.powerOfTwo("arp-entries", default.arpEntries, 4, 64, "addresses that the cache of ARP holds"),
    Parameter.powerOfTwo("waiting", default.waiting, 1, 16, "destinations whose address is asked for at once"),
    Parameter.choice("echo", 0, Seq(0, 1), "1: stream 0 has no ports and sends back what comes"),
    Parameter.choice("shared", 0, Seq(0, 1), "1: frames for a network interface on the same link have a port"),
    Parameter.choice(
      "assemblies",
      default.assemblies,
      Seq(0, 1, 2, 4),
      "datagrams put together from fragments at once"
    ),
    Parameter.powerOfTwo("senders", default.senders, 4, 32, "senders whose rates are limited one by one")
  )

  def build(values: ParameterValues): HardwareUnit = new Network(
    Params(
      values.int("streams"),
      values.int("bindings"),
      values.int("buffer-kib"),
      values.int("mtu"),
      values.int("arp-entries"),
      values.int("waiting"),
      values.int("echo") == 1,
      values.int("shared") == 1,
      values.int("assemblies"),
      values.int("senders")
    )
  )
}
