package rackwright.crypto

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The cipher for elaboration. */
object AesDescription extends UnitDescription {
  val name: String = "aes"
  val summary: String = "Encrypts and decrypts by AES with keys of 128, 192 and 256 bits: ECB, CBC, CTR and GCM."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.powerOfTwo("held-kib", 16, 1, 64, "KiB of output that may wait for its tag or for memory"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new Aes(
    Params(
      values.int("port-bytes"),
      values.int("outstanding"),
      values.int("held-kib"),
      values.int("command-queue")
    )
  )
}
