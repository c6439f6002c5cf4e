package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit
import rackwright.stream.SkidBuffer

/** Sends frames as ordered: unchanged, with rewritten addresses, with a report removed or inserted, or a message of the
  * unit's own.
  *
  * The first 58 bytes are headers, the last two of them in flit 7. A report is inserted behind them; a report that is
  * removed ends six bytes into a flit.
  */
class Emitter(params: Params) extends Module {
  val order = IO(Flipped(Decoupled(new Order)))

  /** The bytes of the buffered frames, in order. */
  val frames = IO(Flipped(Decoupled(new Piece)))
  val isSealed = IO(Input(Bool()))
  val reportSum = IO(Input(UInt(16.W)))
  val at = IO(Output(UInt(log2Ceil(6 + params.services).W)))
  val reportPiece = IO(Input(new Piece))

  /** The report has been sent. */
  val release = IO(Output(Bool()))
  val network = IO(Decoupled(new StreamFlit(Sizes.flitBytes)))
  val idle = IO(Output(Bool()))

  private object Phase extends ChiselEnum {
    val headers, seam, report, skip, rest, drain = Value
  }

  private val sums = Module(new Sums)
  private val packer = Module(new Packer)
  // Two buffers, so that the path of the order's ready signal starts at a flip-flop with a small fan-out.
  private val entering = SkidBuffer(order)
  private val orders = SkidBuffer(entering)
  private val next = Module(new Queue(new Rewritten, 1, pipe = true))
  sums.in <> orders
  sums.isSealed := isSealed
  sums.reportSum := reportSum
  next.io.enq <> sums.out
  network <> packer.out

  private val work = next.io.deq.bits
  private val busy = next.io.deq.valid
  private val phase = RegInit(Phase.headers)
  private val index = RegInit(0.U(12.W))
  private val piece = RegInit(0.U(at.getWidth.W))
  private val left = Reg(UInt(16.W))
  private val first = Reg(Bool())
  private val action = work.order.action
  private val own = action === Action.own
  private val resized = own || (action === Action.rewrite && (work.order.strip || work.order.insert))
  private val pieces = SkidBuffer(frames)
  private val head = pieces.bits

  private val headers = Module(new Headers)
  headers.work := work
  headers.index := index
  headers.flit := head.data

  private val restBytes = work.udpLength - (8 + Sizes.messageBytes).U -
    Mux(
      work.order.insert,
      Mux(own, Sums.gossipBytes(work.order.insertEntries), Sums.redirectedBytes(work.order.insertEntries)),
      0.U
    )
  private val offset = Mux(!first, 0.U, Mux(work.order.strip, 6.U, 2.U))
  private val available = head.count - offset
  private val sent = Mux(left < available, left(3, 0), available)
  private val sends = packer.in.fire
  private val arrives = pieces.valid

  packer.in.valid := false.B
  packer.in.bits := head
  pieces.ready := false.B
  next.io.deq.ready := false.B
  release := false.B
  at := piece
  idle := !busy && sums.idle && !entering.valid && !orders.valid && !pieces.valid && packer.idle

  private def finish(): Unit = {
    next.io.deq.ready := true.B
    phase := Phase.headers
    index := 0.U
    piece := 0.U
    release := work.order.insert
  }

  switch(phase) {
    is(Phase.headers) {
      when(busy && action === Action.discard) {
        pieces.ready := true.B
        when(arrives && head.last) { finish() }
      }.elsewhen(busy && (own || arrives)) {
        packer.in.valid := true.B
        packer.in.bits.data := Mux(action === Action.pass, head.data, headers.out)
        packer.in.bits.count := Mux(own, 8.U, head.count)
        packer.in.bits.last := head.last && !own
        pieces.ready := packer.in.ready && !own
        when(sends) {
          index := index + !index.andR
          when(!own && head.last) { finish() }.elsewhen(resized && index === 6.U) { phase := Phase.seam }
        }
      }
    }
    is(Phase.seam) {
      // Sends two bytes of flit 7, which remains buffered for its other bytes.
      packer.in.valid := own || arrives
      packer.in.bits.data := Mux(own, 0.U, head.data)
      packer.in.bits.count := 2.U
      packer.in.bits.last := !work.order.insert && restBytes === 0.U
      left := restBytes
      first := true.B
      when(sends) {
        index := 7.U
        phase := Mux(work.order.insert, Phase.report, Mux(work.order.strip, Phase.skip, Phase.drain))
        when(own && !work.order.insert) { finish() }
      }
    }
    is(Phase.report) {
      packer.in.valid := true.B
      packer.in.bits := reportPiece
      packer.in.bits.last := reportPiece.last && left === 0.U
      when(sends) {
        piece := piece + 1.U
        when(reportPiece.last) {
          phase := Mux(left === 0.U, Phase.drain, Mux(work.order.strip, Phase.skip, Phase.rest))
          when(own) { finish() }
        }
      }
    }
    is(Phase.skip) {
      // The removed report ends in flit 10, plus one flit for each entry.
      when(left === 0.U) { phase := Phase.drain }.elsewhen(index === 10.U + work.order.stripEntries) {
        phase := Phase.rest
      }.otherwise {
        pieces.ready := true.B
        when(arrives) { index := index + 1.U }
      }
    }
    is(Phase.rest) {
      packer.in.valid := arrives
      packer.in.bits.data := head.data >> Cat(offset, 0.U(3.W))
      packer.in.bits.count := sent
      packer.in.bits.last := left === sent
      pieces.ready := packer.in.ready
      assert(!(sends && head.last) || left === sent, "a frame ends before what is to be sent of it")
      when(sends) {
        first := false.B
        left := left - sent
        when(left === sent) {
          phase := Phase.drain
          when(head.last) { finish() }
        }
      }
    }
    is(Phase.drain) {
      // Discards the Ethernet padding of the received frame.
      pieces.ready := true.B
      when(arrives && head.last) { finish() }
    }
  }
}
