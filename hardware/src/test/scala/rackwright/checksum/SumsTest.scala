package rackwright.checksum

import java.util.zip.{Adler32, CRC32, Checksum}

import chisel3._
import chisel3.util._

import rackwright.BlockTest

/** Both sums of the same bytes. */
class BothSums(stripeBytes: Int) extends Module {
  val start = IO(Input(Bool()))
  val stripe = IO(Flipped(Valid(UInt((8 * stripeBytes).W))))
  val byte = IO(Flipped(Valid(UInt(8.W))))
  val busy = IO(Output(Bool()))
  val crc = IO(Output(UInt(32.W)))
  val adler = IO(Output(UInt(32.W)))

  private val crcSum = Module(new Crc32Sum(stripeBytes))
  private val adlerSum = Module(new Adler32Sum(stripeBytes))
  crcSum.start := start
  crcSum.stripe := stripe
  crcSum.byte := byte
  crc := crcSum.value
  adlerSum.start := start
  adlerSum.stripe := stripe
  adlerSum.byte := byte
  adler := adlerSum.value
  busy := crcSum.busy || adlerSum.busy
}

/** Checksums against those of Java's library. */
class SumsTest extends BlockTest {
  private val stripeBytes = 32

  private def library(sum: Checksum, bytes: Array[Byte]): Long = {
    sum.update(bytes, 0, bytes.length)
    sum.getValue
  }

  private def settle(dut: BothSums): Unit = {
    dut.stripe.valid.poke(false)
    dut.byte.valid.poke(false)
    dut.clock.step(4)
  }

  test("CRC-32 and Adler-32 are those of the library") {
    val random = seeded(10)
    block(new BothSums(stripeBytes)) { dut =>
      for (length <- Seq(0, 1, 31, 32, 33, 200, 1000, 4000)) {
        val bytes = Array.fill(length)((if (length > 500) 255 else random.nextInt(256)).toByte)
        dut.start.poke(true)
        settle(dut)
        dut.start.poke(false)
        val (stripes, rest) = bytes.splitAt(length / stripeBytes * stripeBytes)
        for (stripe <- stripes.grouped(stripeBytes)) {
          dut.stripe.valid.poke(true)
          dut.stripe.bits.poke(BigInt(1, stripe.reverse))
          dut.clock.step()
        }
        settle(dut)
        assert(!holds(dut.busy))
        for (byte <- rest) {
          dut.byte.valid.poke(true)
          dut.byte.bits.poke(byte & 255)
          dut.clock.step()
        }
        settle(dut)
        assert(value(dut.crc) == library(new CRC32, bytes), s"CRC-32 of $length bytes")
        assert(value(dut.adler) == library(new Adler32, bytes), s"Adler-32 of $length bytes")
      }
    }
  }
}
