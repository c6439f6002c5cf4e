package rackwright.soc

import freechips.rocketchip.diplomacy._

/** The serial port of a board, which the device tree names to firmware: a 16550 behind the port for devices. */
object SerialPort {
  private val bytes = 0x1000
  private val baud = 115200

  /** The crystal of the first ones, with which a divisor of 1 gives that rate. */
  private val hertz = 1843200

  /** Adds it to the device tree of the chip that is being described. */
  def describe(base: BigInt): Unit = {
    val device = new SimpleDevice("serial", Seq("ns16550a")) {
      override def describe(resources: ResourceBindings): Description = {
        val Description(name, mapping) = super.describe(resources)
        val numbers = Seq("clock-frequency" -> hertz, "current-speed" -> baud)
        Description(name, mapping ++ numbers.map { case (key, number) => key -> Seq(ResourceInt(number)) })
      }
    }
    val permissions = ResourcePermissions(r = true, w = true, x = false, c = false, a = false)
    ResourceBinding {
      Resource(device, "reg").bind(ResourceAddress(AddressSet.misaligned(base, bytes), permissions))
    }
  }
}
