package rackwright.lz77.decode

import chisel3._
import chisel3.util._

/** The pieces that entered in one cycle. */
class PieceRow(val params: DecoderParams) extends Bundle {
  val pieces = Vec(params.lanes, new Piece(params))

  /** The last one exists; the others always do. */
  val full = Bool()
}

/** Selects the pieces of the next step: the oldest one, alone or with the one after it.
  *
  * The pieces that may be combined are known before they arrive here. The remaining conditions are that sources have
  * been produced, up to the step before the previous one, and that fall-back reads have arrived.
  */
class DecoderIssue(params: DecoderParams) extends Module {
  private val lanes = params.lanes
  private val places = 2 * lanes + 1

  /** Abandons everything in flight. */
  val clear = IO(Input(Bool()))
  val row = IO(Flipped(Decoupled(new PieceRow(params))))

  /** A step may be executed in this cycle. */
  val enable = IO(Input(Bool()))

  /** Fall-back lines that have arrived: at least one, at least two. */
  val arrived = IO(Input(Vec(2, Bool())))

  /** The pieces of a step. */
  val step = IO(Output(Vec(lanes, Valid(new Piece(params)))))

  /** The oldest piece waits for a fall-back read. */
  val waiting = IO(Output(Bool()))
  val empty = IO(Output(Bool()))

  private val held = Reg(Vec(places, new Piece(params)))
  private val count = RegInit(0.U(log2Ceil(places + 1).W))

  /** Bytes of the step in the previous cycle. */
  private val latest = RegInit(0.U(params.countBits.W))

  private def there(piece: Piece): Bool = !piece.fallback || Mux(piece.crosses, arrived(1), arrived(0))

  private val first = held(0)
  private val one = count =/= 0.U && enable && first.slack >= latest && there(first)
  private val two = if (lanes == 2) {
    val second = held(1)
    count > 1.U && enable && second.pairs && second.pairedSlack >= latest && there(second)
  } else false.B

  step(0).valid := one
  step(0).bits := first
  if (lanes == 2) {
    step(1).valid := one && two
    step(1).bits := held(1)
  }
  latest := Mux(one, (if (lanes == 2) Mux(two, held(1).pairedLength, first.length) else first.length), 0.U)
  waiting := count =/= 0.U && !there(first)
  empty := count === 0.U

  // The remaining pieces move to the front, followed by a new row.
  private val popped = if (lanes == 2) Mux(one, Mux(two, 2.U, 1.U), 0.U) else one.asUInt
  row.ready := count <= (places - lanes).U
  private val left = count - popped
  private val entering = Mux(row.fire, (if (lanes == 2) Mux(row.bits.full, 2.U, 1.U) else 1.U), 0.U)
  count := left + entering
  for (place <- 0 until places) {
    def alternative(pop: Int): Piece = {
      val stays = count > (place + pop).U
      val moved = held((place + pop).min(places - 1))
      val entered =
        if (lanes == 2) Mux(count === (place + pop).U, row.bits.pieces(0), row.bits.pieces(1)) else row.bits.pieces(0)
      Mux(stays, moved, entered)
    }
    held(place) := (0 to lanes).map(alternative).zipWithIndex.reduceLeft[(Piece, Int)] {
      case ((before, _), (next, pop)) =>
        (Mux(popped === pop.U, next, before), pop)
    }._1
  }
  when(clear) {
    count := 0.U
    latest := 0.U
  }
}
