package rackwright.protobuf.write

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** Which serializers may be built. */
class SerializerTest extends AnyFunSuite {
  private def refused(params: => SerializerParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(SerializerParams(portBytes = 8)).contains("port-bytes is 16 or 32, not 8"))
    assert(refused(SerializerParams(lanes = 3)).contains("lanes is 1, 2 or 4, not 3"))
    assert(refused(SerializerParams(fieldSerializers = 1)).contains("field-serializers is 2 to 16, not 1"))
    assert(refused(SerializerParams(depth = 101)).contains("depth is 2 to 100, not 101"))
    assert(refused(SerializerParams(outstanding = 4)).contains("outstanding is a power of two from 8 to 128, not 4"))
    assert(refused(SerializerParams(bufferBeats = 5)).contains("buffer-beats is a power of two from 4 to 64, not 5"))
    assert(refused(SerializerParams(tableRows = 4)).contains("table-rows is a power of two from 8 to 128, not 4"))
    assert(refused(SerializerParams(objectLines = 8)).contains("object-lines is a power of two from 16 to 128, not 8"))
    assert(refused(SerializerParams(commandQueue = 17)).contains("command-queue is 1 to 16, not 17"))
  }

  test("elaborates with each width of the ports, at the least and the most of the rest") {
    for (bytes <- Seq(16, 32)) {
      val least =
        SerializerParams(bytes, 1, 2, depth = 2, outstanding = 8, bufferBeats = 4, tableRows = 8, objectLines = 16)
      val most = SerializerParams(bytes, 4, 16, depth = 100, outstanding = 128, bufferBeats = 64, commandQueue = 16)
      for (params <- Seq(least, most))
        assert(ChiselStage.emitCHIRRTL(new Serializer(params)).contains("module Serializer"))
    }
  }
}
