package rackwright.queue

import chisel3._
import chisel3.util._

/** The consumer of a queue in memory: outputs its elements in order, and releases their places. [[ElementTaker]] is for
  * elements of 8 bytes. One of several of a shared queue: it reads the turn of the next ticket's place when a producer
  * has drawn that ticket, and again until the element has been written, then tries to draw the ticket, and only then
  * reads the element.
  *
  * @param bytes
  *   of an element.
  * @param others
  *   further kinds of queues.
  * @param repeats
  *   whether it can go on after a refused access as if that had not been: it outputs an element only when its place is
  *   released, and reads none while `hold`. Not with shared queues.
  */
class QueueTaker(bytes: Int, others: Seq[QueueKind] = Nil, repeats: Boolean = false)
    extends QueueEnd(bytes, others, Problem.incoming, tellsAdvance = repeats) {
  import QueueTaker.State

  /** Stops at the end of the published elements: `drained` is high when it has reached it. */
  val last = IO(Input(Bool()))

  /** The element read last, until it is taken: its first word is in the low bits. */
  val element = IO(Decoupled(UInt(512.W)))
  val drained = IO(Output(Bool()))

  /** Begins to read no further elements. */
  val hold: Option[Bool] = Option.when(repeats)(IO(Input(Bool())))

  /** Translations have changed: a watch is asked for again. */
  val forget: Option[Bool] = Option.when(repeats)(IO(Input(Bool())))

  /** An element has been read in this cycle; the index of the other side has been read. */
  val taken, looked = IO(Output(Bool()))

  private val state = RegInit(State.closed)
  private val full = RegInit(false.B)
  private val fetched = Reg(UInt(512.W))
  private val released = Reg(UInt(QueueInterrupt.indexBits.W))
  private val isKnown = RegInit(false.B)

  private val shared = side.isShared
  // In a shared queue, consumers may be ahead of producers.
  private val nothing = RegInit(true.B)
  private val isEmpty = Mux(shared, nothing, side.own === side.other)
  private val free = hold.map(!full && !_).getOrElse(!full || element.ready)
  // The read waits until the index differs from the known one. The last one does not.
  private val looksLast = Reg(Bool())
  private val isLast = Mux(line.busy, looksLast, last)
  looksLast := isLast
  private val looks = state === State.look && (isEmpty && go || line.busy)
  private val asks = Seq(State.header, State.index, State.turn, State.claim, State.fetch, State.release)
  line.request.valid := looks || asks.map(state === _).reduce(_ || _)
  line.request.bits.address := MuxLookup(state, header)(
    Seq(
      State.index -> (header + QueueLayout.readIndex.U),
      State.look -> (header + QueueLayout.writeIndex.U),
      State.turn -> side.turnBeat,
      State.claim -> (header + QueueLayout.readIndex.U),
      State.fetch -> side.place,
      State.release -> Mux(shared, side.turnBeat, header + QueueLayout.readIndex.U)
    )
  )
  line.request.bits.write := state === State.claim || state === State.release
  line.request.bits.watch := looks && !isLast || state === State.claim
  line.request.bits.words := Mux(shared && state === State.release, 2.U, 1.U)
  line.request.bits.beats := MuxLookup(state, 1.U)(Seq(State.header -> 2.U, State.fetch -> side.beats))
  line.request.bits.data := MuxLookup(state, side.other)(
    Seq(
      State.claim -> draw,
      State.release -> Mux(shared, (side.own + side.length) << 64, side.own)
    )
  )
  private val again = forget.map(renews(_, looks)).getOrElse(false.B)
  line.withdraw := last || !go || again

  private val none = Mux(shared, QueueSide.isBehind(found, side.own), found === side.own)

  // Indices are compared unchanged: they are never reset, and wrap after more elements than are ever written.
  private def fail(why: Problem.Type): Unit = {
    report(why)
    state := State.stopped
  }

  when(state === State.closed && go) { state := State.header }
  private val next = Mux(shared, State.turn, State.fetch)
  when(state === State.look && !isEmpty && free && go) { state := next }
  when(state === State.look && !line.busy && !go) { state := State.closed }
  when(state === State.stopped && !go) { state := State.closed }
  when(element.fire) { full := false.B }
  when(answered) {
    when(line.response.fault) {
      fail(Problem.refused)
    }.otherwise {
      switch(state) {
        is(State.header) {
          val right = side.open(read)
          state := State.index
          when(!right) { fail(wrong) }
        }
        is(State.index) {
          side.own := found
          side.other := found
          released := found
          isKnown := true.B
          nothing := true.B
          state := State.look
        }
        is(State.look) {
          when(!again) {
            side.other := found
            nothing := none
          }
          when(again) {}
            .elsewhen(!shared && found - side.own > side.length) { fail(wrong) }
            .elsewhen(!none && free && go) { state := next }
            .elsewhen(none && isLast) { state := State.stopped }
        }
        is(State.fetch) {
          fetched := read
          full := true.B
          when(!shared) { side.own := side.own + 1.U }
          state := State.release
        }
        is(State.turn) {
          // If it is not the one: another consumer has the ticket, or the producer with it has not written yet.
          state := Mux(turn === side.own + 1.U, State.claim, State.index)
        }
        is(State.claim) {
          when(found === side.own) { state := State.fetch }.otherwise {
            side.own := found
            nothing := QueueSide.isBehind(side.other, found)
            state := State.look
          }
        }
        is(State.release) {
          released := side.own
          when(shared) {
            side.own := side.own + 1.U
            nothing := QueueSide.isBehind(side.other, side.own + 1.U)
          }
          state := State.look
        }
      }
    }
  }
  when(state === State.closed) {
    full := false.B
    isKnown := false.B
  }

  element.valid := full && (if (repeats) state === State.look else true.B)
  element.bits := fetched
  stored.valid := isKnown
  stored.bits := released
  still := state === State.closed && !go
  drained := state === State.stopped
  quiet := Seq(State.closed -> !go, State.stopped -> go, State.look -> (Mux(isEmpty, line.watches, !free) && go))
    .map { case (which, waits) => state === which && waits }
    .reduce(_ || _)
  taken := answered && state === State.fetch
  advanced.foreach(_ := answered && state === State.release && !line.response.fault)
  looked := answered && state === State.look
}

/** Its current action. */
object QueueTaker {
  object State extends ChiselEnum {
    val closed, header, index, look, turn, claim, fetch, release, stopped = Value
  }
}
