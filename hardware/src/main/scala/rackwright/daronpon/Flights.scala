package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A flight: a request that is outstanding at a replica, or was. */
class Flight(params: Params) extends Bundle {
  val taken = Bool()
  val epoch = UInt(32.W)
  val replica = UInt(params.replicaBits.W)
  val client = UInt(48.W)
  val number = UInt(64.W)
}

/** The location of a flight in the table, or a location for it. */
class FlightPlace(params: Params) extends Bundle {
  val row = UInt(log2Ceil(params.rows).W)

  /** The way that holds the request, one-hot; zero if there is none. */
  val hits = UInt(Sizes.ways.W)

  /** The ways that are free. */
  val frees = UInt(Sizes.ways.W)

  /** The replica of the request, and the lowest bits of the epoch in which it started. */
  val replica = UInt(params.replicaBits.W)
  val begun = UInt(log2Ceil(Sizes.epochs).W)
}

/** A write to the table. */
class FlightChange(params: Params) extends Bundle {
  val row = UInt(log2Ceil(params.rows).W)
  val ways = UInt(Sizes.ways.W)
  val flight = new Flight(params)
}

/** The outstanding requests of the rack: a four-way table in SRAM
  * (`engine/crates/network/dispatch/src/outstanding.rs`).
  *
  * The result of a lookup is updated when its row is written, so that a request can be looked up ahead, while others
  * are being decided.
  */
class Flights(params: Params) extends Module {
  private val rowBits = log2Ceil(params.rows)

  /** Clears the table, which takes one cycle for each row. */
  val clear = IO(Input(Bool()))
  val clearing = IO(Output(Bool()))

  /** Looks up the request at the input, starting in the next cycle. */
  val start = IO(Input(Bool()))
  val client = IO(Input(UInt(48.W)))
  val number = IO(Input(UInt(64.W)))
  val epoch = IO(Input(UInt(32.W)))

  /** An epoch ends, which invalidates the result of the lookup. */
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

  // The write is registered, since every bit of a row depends on it.
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

/** The hash function of the table. */
object Flights {

  /** The hash of the policy crate: an exclusive or of shifted operands. */
  def hash(client: UInt, number: UInt): UInt = {
    val wide = client.pad(64)
    val mixed = number ^ wide.rotateLeft(23) ^ (wide >> 7)
    val folded = mixed ^ (mixed >> 32)
    folded ^ (folded >> 15)
  }
}
