package rackwright.protobuf.write

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The serializer for elaboration. */
object SerializerDescription extends UnitDescription {
  val name: String = "protobuf-serialize"
  val summary: String = "Serializes objects of the C++ protobuf library into wire format."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.choice("lanes", 2, Seq(1, 2, 4), "messages walked at the same time"),
    Parameter.integer("field-serializers", 16, 2 to 16, "strings and arrays of a message read at the same time"),
    Parameter.integer("depth", 25, 2 to 100, "messages within each other, the outermost included"),
    Parameter.powerOfTwo("outstanding", 64, 8, 128, "beats that field serializers have outstanding together"),
    Parameter.powerOfTwo("buffer-beats", 32, 4, 64, "beats that each field serializer reads ahead"),
    Parameter.powerOfTwo("table-rows", 128, 8, 128, "rows of 64 bytes of descriptor tables that each lane keeps"),
    Parameter.powerOfTwo("object-lines", 128, 16, 128, "beats of objects that each lane keeps"),
    Parameter.powerOfTwo("map-entries", 128, 8, 256, "entries of maps that each lane keeps to sort them"),
    Parameter.integer("command-queue", 8, 1 to 16, "requests that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new Serializer(
    SerializerParams(
      portBytes = values.int("port-bytes"),
      lanes = values.int("lanes"),
      fieldSerializers = values.int("field-serializers"),
      depth = values.int("depth"),
      outstanding = values.int("outstanding"),
      bufferBeats = values.int("buffer-beats"),
      tableRows = values.int("table-rows"),
      objectLines = values.int("object-lines"),
      mapEntries = values.int("map-entries"),
      commandQueue = values.int("command-queue")
    )
  )
}
