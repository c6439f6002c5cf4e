package rackwright.entropy.bits

import chisel3._
import chisel3.util.log2Ceil

import rackwright.BlockTest

/** The lowest bit that is set, and all others. */
class FirstSetTest extends BlockTest {
  private class Dut(width: Int) extends Module {
    val bits = IO(Input(UInt(width.W)))
    val place = IO(Output(UInt(log2Ceil(width).W)))
    val rest = IO(Output(UInt(width.W)))
    private val first = FirstSet(bits)
    place := first.place
    rest := first.rest
  }

  test("each bit is found, alone and before others") {
    val random = seeded(8)
    for (width <- Seq(64, 256))
      block(new Dut(width)) { dut =>
        for (place <- 0 until width; others <- Seq(BigInt(0), BigInt(width - 1 - place, random))) {
          val rest = others << (place + 1)
          dut.bits.poke(rest.setBit(place))
          assert(number(dut.place) == place)
          assert(value(dut.rest) == rest)
        }
      }
  }

  test("bits that make no groups are refused") {
    assert(intercept[Exception](block(new Dut(62))(_ => ())).getMessage.contains("62 bits in groups of 8"))
  }
}
