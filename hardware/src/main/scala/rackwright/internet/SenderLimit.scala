package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** The account of a sender: by how many cycles its packets are ahead of its rate. Without a debt it is free. */
class SenderAccount extends Bundle {
  val source = UInt(32.W)
  val debt = UInt((RateLimit.bits + 1).W)
}

/** Drops the packets of senders that send more than a rate: a token bucket for each, as the time until it is full.
  *
  * A good packet adds `cycles` to the debt of its sender, each cycle takes one off, and packets of a sender whose debt
  * is above `allowance` are dropped whole. A sender without an account gets a free one. While none is, such senders
  * share one more: no number of forged addresses ends the account of another sender, or passes more than so many rates.
  */
class SenderLimit(params: Params) extends Module {
  private val shared = params.senders
  val in = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new PacketInfo)))

  /** A packet ended here. */
  val ended = IO(Valid(UInt(Cause.width.W)))

  /** No packet is here, and no sender has a debt. */
  val idle = IO(Output(Bool()))

  private val accounts = RegInit(VecInit.fill(params.senders + 1)(0.U.asTypeOf(new SenderAccount)))
  private val limit = settings.limit
  private val isOver = RegNext(VecInit(accounts.map(_.debt > limit.allowance)))

  // The account is found with the first flit, and charged with the last: the next packet waits until that is done.
  private val holds = RegInit(false.B)
  private val piece = Reg(chiselTypeOf(in.bits))
  private val isFirst = Reg(Bool())
  private val begins = RegInit(true.B)
  private val matches, free = Reg(UInt(params.senders.W))
  private val goes = Wire(Bool())
  in.ready := Mux(begins, !holds, !holds || goes)
  when(goes) { holds := false.B }
  when(in.fire) {
    holds := true.B
    piece := in.bits
    isFirst := begins
    begins := in.bits.flit.last
    when(begins) {
      matches := VecInit(accounts.init.map(_.source === in.bits.about.source)).asUInt
      free := VecInit(accounts.init.map(_.debt === 0.U)).asUInt
    }
  }
  private val one = Mux(matches.orR, matches, PriorityEncoderOH(free))
  private val chosen = Cat(!one.orR, one)

  private val refusesRest = Reg(Bool())
  private val refusesNow = limit.cycles =/= 0.U && (chosen & isOver.asUInt).orR
  private val refuses = Mux(isFirst, refusesNow, refusesRest)
  private val passed = Wire(Decoupled(chiselTypeOf(piece)))
  passed.valid := holds && !refuses
  passed.bits := piece
  out <> SkidBuffer(passed)
  goes := holds && (refuses || passed.ready)
  when(goes) { refusesRest := refuses }
  private val ends = goes && piece.flit.last
  ended.valid := ends && refuses
  ended.bits := Cause.first(piece.about.cause, true.B -> "dropped_rate")

  private val pays = ends && !refuses && piece.about.cause === Cause.none && limit.cycles =/= 0.U
  private val oneLess = RegNext(limit.cycles - 1.U)
  for ((account, i) <- accounts.zipWithIndex) {
    val owes = account.debt =/= 0.U
    when(owes) { account.debt := account.debt - 1.U }
    when(pays && chosen(i)) {
      account.debt := Mux(owes, account.debt + oneLess, limit.cycles)
      if (i != shared) account.source := piece.about.source
    }
  }
  idle := !holds && !out.valid && accounts.map(_.debt === 0.U).reduce(_ && _)
}
