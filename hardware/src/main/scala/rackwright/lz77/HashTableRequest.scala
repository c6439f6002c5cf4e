package rackwright.lz77

import chisel3._
import chisel3.util._

import EncoderParams._

/** Hashes the positions of a group and holds them until the table takes them: one stage.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTableRequest(params: EncoderParams) extends Module {
  val group = IO(Flipped(Decoupled(new EncoderGroup)))

  /** Index bits that this operation does not use. */
  val unused = IO(Input(UInt(4.W)))
  val lookup = IO(Decoupled(new HashLookup(params)))

  private val present = RegInit(false.B)
  private val request = Reg(new HashLookup(params))

  group.ready := !present || lookup.ready
  lookup.valid := present
  lookup.bits := request

  when(group.ready) { present := group.valid }
  when(group.fire) {
    request.group := group.bits
    for ((set, lane) <- request.sets.zipWithIndex) {
      set.valid := group.bits.remaining >= (lane + minMatch).U
      set.bits := HashIndex(params, group.bits.bytes(lane, minMatch), unused)
    }
  }
}
