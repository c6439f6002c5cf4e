package rackwright.checksum

import chisel3._
import chisel3.util._

/** The CRC of RFC 1952, section 8: polynomial 0xEDB88320, the lowest bit of a byte first. The state is complemented at
  * the begin and at the end, which is left to the user.
  */
object Crc32 {
  private val polynomial = BigInt("EDB88320", 16)
  val bits: Int = 32

  /** The state after one byte of zeros. */
  private def afterZeros(state: BigInt): BigInt =
    (0 until 8).foldLeft(state)((s, _) => if (s.testBit(0)) (s >> 1) ^ polynomial else s >> 1)

  /** The state after `bytes` bytes of zeros, from the state in which only bit `bit` is set. */
  private def image(bit: Int, bytes: Int): BigInt = (0 until bytes).foldLeft(BigInt(1) << bit)((s, _) => afterZeros(s))

  private def xor(images: Seq[(Bool, BigInt)]): UInt =
    Cat((0 until bits).reverse.map { i =>
      images.collect { case (bit, image) if image.testBit(i) => bit }.reduceOption(_ ^ _).getOrElse(false.B)
    })

  /** The state after `bytes` bytes of zeros. */
  def pass(state: UInt, bytes: Int): UInt = xor(state.asBools.zipWithIndex.map { case (bit, i) =>
    bit -> image(i, bytes)
  })

  /** The contribution of `data`, followed by `after` bytes, to a state: the first byte of `data` is the lowest. */
  def added(data: UInt, after: Int): UInt = {
    val count = data.getWidth / 8
    xor(data.asBools.zipWithIndex.map { case (bit, i) => bit -> image(i % 8, count - i / 8 + after) })
  }

  /** The state after one byte. */
  def next(state: UInt, byte: UInt): UInt = pass(state ^ byte, 1)
}

/** CRC-32 of stripes and of single bytes. */
class Crc32Sum(stripeBytes: Int) extends Module {
  private val groups = stripeBytes / 8

  val start = IO(Input(Bool()))
  val stripe = IO(Flipped(Valid(UInt((8 * stripeBytes).W))))

  /** A byte after all stripes, while no stripe is in progress. */
  val byte = IO(Flipped(Valid(UInt(8.W))))
  val value = IO(Output(UInt(Crc32.bits.W)))
  val busy = IO(Output(Bool()))

  private val state = RegInit(0.U(Crc32.bits.W))
  private val summing = RegNext(stripe.valid, false.B)
  private val parts = (0 until groups).map { group =>
    val data = stripe.bits(64 * group + 63, 64 * group)
    RegEnable(Crc32.added(data, stripeBytes - 8 * (group + 1)), stripe.valid)
  }
  private val adding = RegNext(summing, false.B)
  private val sum = RegEnable(parts.reduce(_ ^ _), summing)
  when(adding) { state := Crc32.pass(state, stripeBytes) ^ sum }
  when(byte.valid) { state := Crc32.next(state, byte.bits) }
  when(start) { state := ~0.U(Crc32.bits.W) }
  value := ~state
  busy := summing || adding
}
