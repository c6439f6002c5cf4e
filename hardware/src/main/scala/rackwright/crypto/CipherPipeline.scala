package rackwright.crypto

import chisel3._
import chisel3.util._

/** A block for the cipher. */
class CipherBlock extends Bundle {
  val data = UInt(128.W)

  /** Whose round keys. */
  val slot = UInt(1.W)
}

/** AES on blocks, in either direction: a ring of rounds that each block passes twice, [[CipherPipeline.latency]] cycles
  * from `in` to `out`, for any key size. A block enters every other cycle, and never stalls.
  */
class CipherPipeline extends Module {
  import CipherPipeline._

  /** Of each slot: its key's size and direction. They do not change while a block uses them. */
  val sizes = IO(Input(Vec(slots, UInt(2.W))))
  val inverse = IO(Input(Vec(slots, Bool())))

  /** A round key of the slot `keySlot`. */
  val key = IO(Flipped(Valid(new RoundKey)))
  val keySlot = IO(Input(UInt(1.W)))

  /** Blocks may arrive; without it the pipeline is inactive. */
  val run = IO(Input(Bool()))

  /** A block may go in: so it is in every other cycle. */
  val open = IO(Output(Bool()))
  val in = IO(Flipped(Valid(new CipherBlock)))
  val out = IO(Valid(UInt(128.W)))

  private val keys = Reg(Vec(slots, Vec(rounds + 1, UInt(128.W))))
  when(key.valid) { keys(keySlot)(key.bits.place) := key.bits.bits }

  private val phase = RegInit(false.B)
  phase := !phase && run
  open := !phase

  // The position of a block after this number of cycles: every other position has one, and at a stage of a round blocks
  // of the first lap alternate with those of the second, because a lap has an odd number of stages.
  private val slotAt = Seq.iterate(in.bits.slot, 2 * lap + 2)(RegNext(_))
  private val validAt = Seq.iterate(in.valid && open, 2 * lap + 2)(RegNext(_, false.B))

  /** Whether the next block at this stage of the ring is one of the second lap, and its slot. */
  private def comes(stage: Int): (Bool, UInt) = {
    val second = if (stage % 2 == 0) phase else !phase
    (second, Mux(second, slotAt(stage + lap), slotAt(stage)))
  }
  private val ring = Seq.fill(rounds / 2)(Module(new AesRound))
  for ((round, number) <- ring.zipWithIndex) {
    for (stage <- 0 until AesRound.stages) {
      val (second, slot) = comes(AesRound.stages * number + stage)
      val passed = VecInit(sizes.map(size => KeySize.choose(size, KeySize.passed, 3)))(slot)
      round.control(stage).inverse := RegNext(inverse(slot))
      round.control(stage).pass := RegNext(!second && number.U < passed)
      if (stage == AesRound.stages - 1) {
        round.key := RegNext(Mux(second, keys(slot)(number + rounds / 2), keys(slot)(number)))
        round.last := (if (number == ring.size - 1) RegNext(second) else false.B)
      }
    }
  }
  private val entering = RegNext(in.bits.data ^ keys(in.bits.slot)(rounds))
  ring.head.in := Mux(validAt(lap + 1), ring.last.out, entering)
  ring.zip(ring.tail).foreach { case (round, next) => next.in := round.out }

  out.valid := validAt(2 * lap + 1)
  out.bits := ring.last.out
  assert(!in.valid || open, "a block goes in while the ring has one there")
}

/** Its shape. */
object CipherPipeline {

  /** For the largest key; a block with fewer rounds passes the first ones unchanged. */
  val rounds: Int = 14

  /** Maximum number of keys of blocks in progress. */
  val slots: Int = 2

  /** Stages of half the rounds: an odd number. */
  val lap: Int = rounds / 2 * AesRound.stages

  /** Cycles from the one in which a block enters to the one in which it has left. */
  val latency: Int = 2 * lap + 1
}
