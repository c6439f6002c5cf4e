package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** Hashes the positions of a group and holds them until the table takes them: two stages, the hash and the set.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTableRequest(params: EncoderParams) extends Module {
  val group = IO(Flipped(Decoupled(new EncoderGroup)))

  /** Index bits that this operation does not use. */
  val unused = IO(Input(UInt(4.W)))
  val lookup = IO(Decoupled(new HashLookup(params)))

  private val hashed = RegInit(false.B)
  private val hashedGroup = Reg(new EncoderGroup)
  private val hashes = Reg(Vec(lanes, UInt(params.indexBits.W)))
  private val present = RegInit(false.B)
  private val request = Reg(new HashLookup(params))

  private val requestTakes = !present || lookup.ready
  group.ready := !hashed || requestTakes
  lookup.valid := present
  lookup.bits := request

  when(group.ready) { hashed := group.valid }
  when(group.fire) {
    hashedGroup := group.bits
    for ((hash, lane) <- hashes.zipWithIndex) hash := HashIndex.hash(params, group.bits.bytes(lane, minMatch))
  }
  when(requestTakes) { present := hashed }
  when(requestTakes && hashed) {
    request.group := hashedGroup
    for ((set, lane) <- request.sets.zipWithIndex) {
      set.valid := hashedGroup.remaining >= (lane + minMatch).U
      set.bits := HashIndex.index(params, hashes(lane), unused)
    }
  }
}
