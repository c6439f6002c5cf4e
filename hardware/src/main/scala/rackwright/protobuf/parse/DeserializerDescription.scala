package rackwright.protobuf.parse

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The deserializer for elaboration. */
object DeserializerDescription extends UnitDescription {
  val name: String = "protobuf-deserialize"
  val summary: String = "Deserializes protobuf messages into objects of the official C++ library, a scalar per cycle."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("outstanding", 128, 4, 128, "beats outstanding on each port"),
    Parameter.integer("depth", 25, 2 to 100, "messages within each other that are kept on chip"),
    Parameter.powerOfTwo("descriptor-lines", 2048, 64, 4096, "lines of 16 bytes of descriptor tables kept on chip"),
    Parameter.powerOfTwo("store-lines", 16, 4, 16, "beats that are filled before they are written"),
    Parameter.integer("command-queue", 8, 1 to 16, "requests that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new Deserializer(
    DeserializerParams(
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      depth = values.int("depth"),
      descriptorLines = values.int("descriptor-lines"),
      storeLines = values.int("store-lines"),
      commandQueue = values.int("command-queue")
    )
  )
}
