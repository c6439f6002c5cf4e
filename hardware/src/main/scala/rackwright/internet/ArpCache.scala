package rackwright.internet

import chisel3._
import chisel3.util._

/** The result of a search of the cache. */
class ArpFound extends Bundle {
  val hit = Bool()
  val mac = UInt(48.W)
}

/** Addresses of stations: all entries are compared at once; the oldest one makes room. */
class ArpCache(entries: Int) extends Module {
  val learnt = IO(Flipped(Valid(new ArpPair)))
  val flush = IO(Input(Bool()))
  val find = IO(Flipped(Valid(UInt(32.W))))

  /** Two cycles after `find`. */
  val found = IO(Valid(new ArpFound))

  /** No lookup or update is in progress. */
  val idle = IO(Output(Bool()))

  private val present = RegInit(VecInit.fill(entries)(false.B))
  private val addresses = Reg(Vec(entries, UInt(32.W)))
  private val macs = Reg(Vec(entries, UInt(48.W)))
  private val oldest = RegInit(0.U(log2Ceil(entries).W))

  private def matches(address: UInt): Vec[Bool] =
    VecInit(present.zip(addresses).map { case (is, own) => is && own === address })

  private val learning = RegNext(learnt.valid, false.B)
  private val pair = RegNext(learnt.bits)
  private val same = RegNext(matches(learnt.bits.address))
  private val adds = learning && pair.isNew && !same.asUInt.orR
  for (i <- 0 until entries) {
    val makesRoom = adds && oldest === i.U
    when(learning && same(i) || makesRoom) { macs(i) := pair.mac }
    when(makesRoom) {
      addresses(i) := pair.address
      present(i) := true.B
    }
  }
  when(adds) { oldest := oldest + 1.U }
  when(flush) { present.foreach(_ := false.B) }

  private val searched = RegNext(matches(find.bits))
  private val searching = RegNext(find.valid, false.B)
  found.valid := RegNext(searching, false.B)
  found.bits.hit := RegNext(searched.asUInt.orR)
  found.bits.mac := RegNext(Mux1H(searched, macs))
  idle := !learning && !searching && !found.valid
}
