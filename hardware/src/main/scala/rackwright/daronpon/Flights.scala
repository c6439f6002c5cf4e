package rackwright.daronpon

import chisel3._
import chisel3.util._

/** A request that is under way, or was. */
class Flight(params: Params) extends Bundle {
  val taken = Bool()
  val epoch = UInt(32.W)
  val replica = UInt(params.replicaBits.W)
  val client = UInt(48.W)
  val number = UInt(64.W)
}

/** The requests under way in the rack: rows of four, in memory (`engine/crates/dispatch/src/outstanding.rs`).
  *
  * A look takes three cycles. What it has found stays until the next.
  */
class Flights(params: Params) extends Module {
  private val rowBits = log2Ceil(params.rows)

  /** Forgets everything; takes as many cycles as there are rows. */
  val clear = IO(Input(Bool()))
  val clearing = IO(Output(Bool()))

  /** Looks for a request, which stays at the input until the next. */
  val look = IO(Input(Bool()))
  val client = IO(Input(UInt(48.W)))
  val number = IO(Input(UInt(64.W)))
  val epoch = IO(Input(UInt(32.W)))

  /** It is under way, with that replica and epoch. */
  val known = IO(Output(Bool()))
  val replica = IO(Output(UInt(params.replicaBits.W)))
  val begun = IO(Output(UInt(32.W)))

  /** It is not, and there is room to note it. */
  val room = IO(Output(Bool()))

  /** Notes it where there is room, or takes it out. */
  val note = IO(Input(Bool()))
  val noted = IO(Input(UInt(params.replicaBits.W)))
  val remove = IO(Input(Bool()))

  private val memory = SyncReadMem(params.rows, Vec(Sizes.ways, new Flight(params)))
  private val sweep = RegInit(0.U((rowBits + 1).W))
  clearing := !sweep(rowBits)
  when(clear) { sweep := 0.U }.elsewhen(clearing) { sweep := sweep + 1.U }

  private val row = RegEnable(Flights.hash(client, number)(rowBits - 1, 0), look)
  private val reads = RegNext(look, false.B)
  private val arrives = RegNext(reads, false.B)
  private val read = memory.read(row, reads)
  private val ways = RegEnable(read, arrives)
  private val compares = RegNext(arrives, false.B)
  private val live = ways.map(way => way.taken && (epoch - way.epoch) < Sizes.epochs.U)
  private val hits = RegEnable(
    VecInit(ways.zip(live).map { case (way, isLive) =>
      isLive && way.client === client && way.number === number
    }).asUInt,
    compares
  )
  private val frees = RegEnable(~VecInit(live).asUInt, compares)

  private val found = Mux1H(hits, ways)
  known := hits.orR
  replica := found.replica
  begun := found.epoch
  room := frees.orR

  private val flight = Wire(new Flight(params))
  flight.taken := note
  flight.epoch := epoch
  flight.replica := noted
  flight.client := client
  flight.number := number
  private val mask = Mux(clearing, Fill(Sizes.ways, 1.U), Mux(note, PriorityEncoderOH(frees), hits))
  private val cleared = 0.U.asTypeOf(flight)
  when(clearing || note || remove) {
    memory.write(
      Mux(clearing, sweep(rowBits - 1, 0), row),
      VecInit(Seq.fill(Sizes.ways)(Mux(clearing, cleared, flight))),
      mask.asBools
    )
  }
}

/** Where a request stands. */
object Flights {

  /** Cycles from a look to what it finds. */
  val lookCycles: Int = 4

  /** The hash of the policy crate: exclusive ors of shifted bits. */
  def hash(client: UInt, number: UInt): UInt = {
    val wide = client.pad(64)
    val mixed = number ^ wide.rotateLeft(23) ^ (wide >> 7)
    val folded = mixed ^ (mixed >> 32)
    folded ^ (folded >> 15)
  }
}
