package rackwright.protobuf.parse

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** Which deserializers may be built. */
class DeserializerTest extends AnyFunSuite {
  private def refused(params: => DeserializerParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(DeserializerParams(portBytes = 8)).contains("port-bytes is 16 or 32, not 8"))
    assert(refused(DeserializerParams(outstanding = 5)).contains("outstanding is a power of two from 4 to 128, not 5"))
    assert(refused(DeserializerParams(depth = 1)).contains("depth is 2 to 100, not 1"))
    assert(refused(DeserializerParams(descriptorLines = 32)).contains(
      "descriptor-lines is a power of two from 64 to 4096, not 32"
    ))
    assert(refused(DeserializerParams(storeLines = 32)).contains("store-lines is a power of two from 4 to 16, not 32"))
    assert(refused(DeserializerParams(commandQueue = 0)).contains("command-queue is 1 to 16, not 0"))
  }

  test("elaborates with each width of the ports, at the least and the most of the rest") {
    for (bytes <- Seq(16, 32)) {
      val least = DeserializerParams(bytes, outstanding = 4, depth = 2, descriptorLines = 64, storeLines = 4)
      val most = DeserializerParams(bytes, outstanding = 128, depth = 100, descriptorLines = 4096, storeLines = 16)
      for (params <- Seq(least, most))
        assert(ChiselStage.emitCHIRRTL(new Deserializer(params)).contains("module Deserializer"))
    }
  }
}
