package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A request that is under way, or was. */
class Flight(params: Params) extends Bundle {
  val taken = Bool()
  val epoch = UInt(32.W)
  val replica = UInt(params.replicaBits.W)
  val client = UInt(48.W)
  val number = UInt(64.W)
}

/** Where a request stands in the table, or could. */
class FlightPlace(params: Params) extends Bundle {
  val row = UInt(log2Ceil(params.rows).W)

  /** The way in which it is under way; none if it is not. */
  val hits = UInt(Sizes.ways.W)

  /** The ways in which it could be noted. */
  val frees = UInt(Sizes.ways.W)

  /** Its replica, and the lowest bits of the epoch in which it began. */
  val replica = UInt(params.replicaBits.W)
  val begun = UInt(log2Ceil(Sizes.epochs).W)
}

/** What is written into the table. */
class FlightChange(params: Params) extends Bundle {
  val row = UInt(log2Ceil(params.rows).W)
  val ways = UInt(Sizes.ways.W)
  val flight = new Flight(params)
}

/** The requests under way in the rack: rows of four, in memory (`engine/crates/network/dispatch/src/outstanding.rs`).
  *
  * What was found is found again when its row changes, so that a request can be looked for while others are decided.
  */
class Flights(params: Params) extends Module {
  private val rowBits = log2Ceil(params.rows)

  /** Forgets everything; takes as many cycles as there are rows. */
  val clear = IO(Input(Bool()))
  val clearing = IO(Output(Bool()))

  /** From the next cycle on, the request at the input is looked for. */
  val start = IO(Input(Bool()))
  val client = IO(Input(UInt(48.W)))
  val number = IO(Input(UInt(64.W)))
  val epoch = IO(Input(UInt(32.W)))

  /** An epoch ends, and with it what was found. */
  val again = IO(Input(Bool()))
  val done = IO(Output(Bool()))
  val place = IO(Output(new FlightPlace(params)))
  val change = IO(Flipped(Valid(new FlightChange(params))))

  private object Stage extends ChiselEnum {
    val hash, read, keep, compare, choose, done = Value
  }
  private val stage = RegInit(Stage.done)
  private val memory = Sram(params.rows, Vec(Sizes.ways, new Flight(params)))
  private val sweep = RegInit(0.U((rowBits + 1).W))
  clearing := !sweep(rowBits)
  when(clear) { sweep := 0.U }.elsewhen(clearing) { sweep := sweep + 1.U }

  private val row = RegEnable(Flights.hash(client, number)(rowBits - 1, 0), stage === Stage.hash)
  private val read = memory.read(row, stage === Stage.read)
  private val ways = RegEnable(read, stage === Stage.keep)
  private val live = ways.map(way => way.taken && (epoch - way.epoch) < Sizes.epochs.U)
  private val hits = RegEnable(
    VecInit(ways.zip(live).map { case (way, isLive) =>
      isLive && way.client === client && way.number === number
    }).asUInt,
    stage === Stage.compare
  )
  private val frees = RegEnable(~VecInit(live).asUInt, stage === Stage.compare)
  private val found = RegEnable(Mux1H(hits, ways), stage === Stage.choose)

  // Written a cycle after it is asked for, for every bit of a row waits for it.
  private val cleared = Wire(new FlightChange(params))
  cleared.row := sweep(rowBits - 1, 0)
  cleared.ways := Fill(Sizes.ways, 1.U)
  cleared.flight := 0.U.asTypeOf(cleared.flight)
  private val isWritten = RegNext(clearing || change.valid, false.B)
  private val written = RegNext(Mux(clearing, cleared, change.bits))
  private val overtaken = isWritten && written.row === row && stage =/= Stage.hash
  done := stage === Stage.done && !overtaken
  when(start) { stage := Stage.hash }
    .elsewhen(overtaken || (again && stage =/= Stage.hash)) { stage := Stage.read }
    .otherwise {
      stage := MuxLookup(stage, Stage.done)(
        Seq(
          Stage.hash -> Stage.read,
          Stage.read -> Stage.keep,
          Stage.keep -> Stage.compare,
          Stage.compare -> Stage.choose
        )
      )
    }

  place.row := row
  place.hits := hits
  place.frees := frees
  place.replica := found.replica
  place.begun := found.epoch

  when(isWritten) {
    memory.write(written.row, VecInit(Seq.fill(Sizes.ways)(written.flight)), written.ways.asBools)
  }
  assert(!done || PopCount(hits) <= 1.U, "a request is under way twice")
  assert(!change.valid || !clearing, "a request is noted while everything is forgotten")
  assert(!change.valid || PopCount(change.bits.ways) === 1.U, "a request is noted in one way of its row")
}

/** Where a request stands. */
object Flights {

  /** The hash of the policy crate: exclusive ors of shifted bits. */
  def hash(client: UInt, number: UInt): UInt = {
    val wide = client.pad(64)
    val mixed = number ^ wide.rotateLeft(23) ^ (wide >> 7)
    val folded = mixed ^ (mixed >> 32)
    folded ^ (folded >> 15)
  }
}
