package rackwright.nic

import rackwright.network.Frame
import rackwright.nic.port.Params
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The network interface in the list of units. */
object NicDescription extends UnitDescription {
  private val default = Params()

  val name: String = "nic"
  val summary: String = "Sends and receives Ethernet frames between memory and a 200 Gbit/s network."
  val status: String = "ready, in the servers of clusters"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", default.portBytes, Seq(16, 32), "bytes per beat of both memory ports"),
    Parameter.powerOfTwo("outstanding", default.outstanding, 16, 256, "beats outstanding on each memory port"),
    Parameter.powerOfTwo("queue-entries", default.queueEntries, 2, 64, "entries of each queue to or from software"),
    Parameter.powerOfTwo("buffer-kib", default.bufferKib, 16, 1024, "size of the receive packet buffer in KiB"),
    Parameter.choice("virtio", 0, Seq(0, 1), "1: drivers find a network device of virtio 1.2 beside the registers"),
    Parameter.choice("network-bytes", default.networkBytes, Frame.widths, "bytes of the network per cycle")
  )

  def build(values: ParameterValues): HardwareUnit = new Nic(
    Params(
      values.int("port-bytes"),
      values.int("outstanding"),
      values.int("queue-entries"),
      values.int("buffer-kib"),
      values.int("virtio") == 1,
      values.int("network-bytes")
    )
  )
}
