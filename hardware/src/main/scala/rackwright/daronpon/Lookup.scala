package rackwright.daronpon

import chisel3._
import chisel3.util._

/** An arrival, with the result of its lookup. */
class LookedUp(params: Params) extends Bundle {
  val arrival = new Arrival(params)
  val place = new FlightPlace(params)

  /** It arrived after the end of the epoch. */
  val isLate = Bool()
}

/** Looks up the next arrival in the table of flights while the arrival before is being decided. Takes seven cycles. */
class Lookup(params: Params) extends Module {
  val arrival = IO(Flipped(Decoupled(new Arrival(params))))
  val out = IO(Decoupled(new LookedUp(params)))
  val change = IO(Flipped(Valid(new FlightChange(params))))
  val epoch = IO(Input(UInt(32.W)))
  val epochEnds = IO(Input(UInt((Sizes.timeBits + 1).W)))

  /** An epoch ends. */
  val again = IO(Input(Bool()))

  /** The table is being cleared. */
  val clear = IO(Input(Bool()))
  val clearing = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val flights = Module(new Flights(params))
  private val full = RegInit(false.B)
  private val held = RegEnable(arrival.bits, arrival.fire)
  when(arrival.fire) { full := true.B }.elsewhen(out.fire) { full := false.B }

  flights.clear := clear
  clearing := flights.clearing
  flights.start := arrival.fire
  flights.client := held.client
  flights.number := held.number
  flights.epoch := epoch
  flights.again := again
  flights.change := change

  arrival.ready := !full || out.fire
  out.valid := full && flights.done
  out.bits.arrival := held
  out.bits.place := flights.place
  out.bits.isLate := RegNext(held.time >= epochEnds)
  idle := !full
}
