package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** One entry of the hash table.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashEntry(val params: EncoderParams) extends Bundle {
  val valid = Bool()
  val generation = UInt(generationBits.W)
  val position = UInt(segmentBits.W)

  /** The bytes around the position; empty if entries contain positions only. */
  val content = UInt((if (params.keyed) 8 * contentBytes else 0).W)
}

/** A group for the hash table, with the set of each of its positions. */
class HashLookup(val params: EncoderParams) extends Bundle {
  val group = new EncoderGroup
  val sets = Vec(lanes, Valid(UInt(params.indexBits.W)))
}

/** A group and the entries found for its positions. */
class HashFound(val params: EncoderParams) extends Bundle {
  val group = new EncoderGroup
  val entries = Vec(lanes, Vec(params.hashWays, new HashEntry(params)))
}

/** The last positions of four bytes, looked up and replaced for eight positions per cycle.
  *
  * The table is spread over banks that serve one set per cycle each. If positions of a group compete for a bank, the
  * last of them wins; another with the same set shares the read, any other is not looked up: its match is mostly found
  * from a neighbour, by the bytes before it. A group sees the entries written by earlier groups. The ways of a set are
  * replaced in turn, by the number of the group.
  *
  * Three cycles from `lookup` to `found`, without stalls: bank arbitration, the memories, the read entries.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTable(params: EncoderParams) extends Module {
  val lookup = IO(Flipped(Decoupled(new HashLookup(params))))
  val found = IO(Valid(new HashFound(params)))

  /** A new operation: all entries in the table become invalid. */
  val start = IO(Input(Bool()))

  /** Clearing after reset or for a new generation. */
  val busy = IO(Output(Bool()))

  /** Positions of this cycle's group that lost their bank. */
  val lost = IO(Output(UInt(log2Ceil(lanes + 1).W)))

  private val generations = Module(new HashTableGeneration(params))
  private val group = lookup.bits.group

  /** The first group of a segment other than the first waits for a new generation. */
  private val fresh = RegInit(true.B)
  private val accessing = RegNext(lookup.fire, false.B)
  private val reading = RegNext(accessing, false.B)
  private val renewForSegment =
    lookup.valid && group.position === 0.U && !fresh && !generations.busy && !accessing && !reading
  generations.renew := start || renewForSegment
  when(lookup.fire) { fresh := false.B }
  when(start || renewForSegment) { fresh := true.B }

  busy := generations.busy
  lookup.ready := !generations.busy && !(group.position === 0.U && !fresh)

  private val banks = Seq.fill(params.hashBanks)(Module(new HashTableBank(params)))
  private val arbiter = Module(new HashTableArbiter(params))
  arbiter.sets := lookup.bits.sets
  private val without = lookup.bits.sets.zip(arbiter.served).map { case (set, hit) => set.valid && !hit }
  private val unserved = RegInit(VecInit.fill(lanes)(false.B))
  for ((lane, lookedUp) <- unserved.zip(without)) lane := lookup.fire && lookedUp
  lost := PopCount(unserved)

  // Each bank is accessed in the cycle after the choice, and answers and is written in the one after that.
  private val accessed = RegEnable(group, lookup.fire)
  private val answered = RegEnable(accessed, accessing)
  private val contents = VecInit.tabulate(lanes)(lane => if (params.keyed) answered.content(lane) else 0.U(0.W))
  for ((bank, number) <- banks.zipWithIndex) {
    val winner = RegEnable(arbiter.winners(number), lookup.fire)
    bank.access.valid := RegNext(lookup.fire && arbiter.used(number), false.B)
    bank.access.bits := RegEnable(arbiter.rows(number), lookup.fire)
    bank.replacement := replacement(RegEnable(winner, accessing))
    bank.clear := generations.clear
  }

  private val read = VecInit(banks.map(_.read))
  found.valid := RegNext(reading, false.B)
  found.bits.group := RegEnable(answered, reading)
  for (lane <- 0 until lanes) {
    def answer[T <: Data](of: T): T = RegEnable(RegEnable(of, lookup.fire), accessing)
    val bank = answer(lookup.bits.sets(lane).bits(params.bankBits - 1, 0))
    val usable = RegEnable(answer(arbiter.served(lane)), reading)
    val entries = RegEnable(read(bank).asTypeOf(found.bits.entries(lane)), reading)
    found.bits.entries(lane) := entries
    for ((entry, way) <- entries.zipWithIndex)
      found.bits.entries(lane)(way).valid := usable && entry.valid && entry.generation === generations.generation
  }

  /** The entry of position `lane` of the group whose sets are read now. The ways are replaced in turn. */
  private def replacement(lane: UInt): HashReplacement = {
    val group = answered
    val result = Wire(new HashReplacement(params))
    val entry = Wire(new HashEntry(params))
    entry.valid := true.B
    entry.generation := generations.generation
    entry.position := group.position | lane
    entry.content := contents(lane)
    result.entry := entry.asUInt
    result.way := (if (params.wayBits == 0) 0.U(0.W) else group.position(laneBits + params.wayBits - 1, laneBits))
    result
  }
}
