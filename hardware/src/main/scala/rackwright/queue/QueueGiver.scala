package rackwright.queue

import chisel3._
import chisel3.util._

/** The producer of a queue in memory: waits for a place, writes an element, then its index. [[ElementGiver]] is for
  * elements of 8 bytes. One of several of a shared queue: it waits until the place of the next ticket is free, tries to
  * draw that ticket, and writes the element and its turn.
  *
  * @param bytes
  *   of an element.
  * @param others
  *   further kinds of queues.
  * @param repeats
  *   whether it can go on after a refused access as if that had not been, later too: an element that is not published
  *   stays. Not with shared queues.
  */
class QueueGiver(bytes: Int, others: Seq[QueueKind] = Nil, repeats: Boolean = false)
    extends QueueEnd(bytes, others, Problem.outgoing, tellsAdvance = repeats) {
  import QueueGiver.State

  val element = IO(Flipped(Decoupled(UInt(512.W))))

  /** The elements of this queue fill their lines. */
  val wide = IO(Output(Bool()))

  /** All elements that it has received are published. */
  val done = IO(Output(Bool()))

  /** An element has been written in this cycle. */
  val wrote = IO(Output(Bool()))

  /** The element that is not published, after a stop. */
  val left: Option[Valid[UInt]] = Option.when(repeats)(IO(Valid(UInt(512.W))))

  /** Sets it, before the queue is opened. */
  val restore: Option[Valid[Valid[UInt]]] = Option.when(repeats)(IO(Flipped(Valid(Valid(UInt(512.W))))))

  /** Translations have changed: a watch is asked for again. */
  val forget: Option[Bool] = Option.when(repeats)(IO(Input(Bool())))

  /** Reads the consumer's index once and rests if there is no place, in place of a watch. */
  val once: Option[Bool] = Option.when(repeats)(IO(Input(Bool())))
  val rested: Option[Bool] = Option.when(repeats)(IO(Output(Bool())))

  private val state = RegInit(State.closed)
  private val kept = Reg(UInt(512.W))
  private val published = Reg(UInt(QueueInterrupt.indexBits.W))
  private val isKnown = RegInit(false.B)

  private val shared = side.isShared
  private val isFull = shared || side.free === 0.U
  private val saw = RegInit(false.B)
  private val waits = state === State.space && (isFull && go && !saw || line.busy)
  // As of its beginning, while a read is in progress.
  private val readsOnce = Reg(Bool())
  private val isOnce = once.map(Mux(line.busy, readsOnce, _)).getOrElse(false.B)
  readsOnce := isOnce
  rested.foreach(_ := saw && isFull)
  // It holds an element that is not published. The turn of its place is known, and was not the one for its ticket.
  private val holds, known = RegInit(false.B)
  private val asks = Seq(State.header, State.index, State.claim, State.give, State.publish)
  line.request.valid := waits || asks.map(state === _).reduce(_ || _)
  line.request.bits.address := MuxLookup(state, header)(
    Seq(
      State.index -> (header + QueueLayout.writeIndex.U),
      State.space -> Mux(shared, side.turnBeat, header + QueueLayout.readIndex.U),
      State.claim -> (header + QueueLayout.writeIndex.U),
      State.give -> side.place,
      State.publish -> Mux(shared, side.turnBeat, header + QueueLayout.writeIndex.U)
    )
  )
  line.request.bits.write := Seq(State.claim, State.give, State.publish).map(state === _).reduce(_ || _)
  line.request.bits.watch := waits && (known || !shared) && !isOnce || state === State.claim
  private val ofTurn = shared && (state === State.space || state === State.publish)
  line.request.bits.words := Mux(state === State.give, side.words, Mux(ofTurn, 2.U, 1.U))
  line.request.bits.beats := MuxLookup(state, 1.U)(Seq(State.header -> 2.U, State.give -> side.beats))
  line.request.bits.data := MuxLookup(state, side.own)(Seq(
    State.claim -> draw,
    State.give -> kept,
    State.space -> Mux(shared, side.other << 64, side.other),
    State.publish -> Mux(shared, (side.own + 1.U) << 64, side.own)
  ))
  private val again = forget.map(renews(_, waits)).getOrElse(false.B)
  line.withdraw := !go || again || once.getOrElse(false.B)

  private def fail(why: Problem.Type): Unit = {
    report(why)
    state := State.stopped
  }

  when(state === State.closed) { isKnown := false.B }
  when(state === State.closed && go) { state := State.header }
  when(state === State.ready && element.valid) { state := Mux(isFull, State.space, State.give) }
  when(state === State.space && !isFull) { state := State.give }
  when((state === State.ready || state === State.space && !line.busy || state === State.stopped) && !go) {
    state := State.closed
  }
  when(element.fire) {
    kept := element.bits
    holds := true.B
    known := false.B
  }
  if (!repeats) when(state === State.closed) { holds := false.B }
  when(!go || state =/= State.space) { saw := false.B }
  left.foreach { element =>
    element.valid := holds
    element.bits := kept
  }
  restore.foreach { element =>
    when(element.valid) {
      kept := element.bits.bits
      holds := element.bits.valid
    }
  }
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
          // Taken for full until the consumer's index is known.
          side.own := found
          published := found
          isKnown := true.B
          when(!shared) { side.other := found - side.length }
          // Another producer has the ticket if the counter has changed, and the place is another one then.
          known := found === side.own
          state := Mux(holds, State.space, State.ready)
        }
        is(State.space) {
          when(!again) { side.other := Mux(shared, turn, found) }
          saw := isOnce
          when(again) {}.elsewhen(shared) {
            state := Mux(turn === side.own, State.claim, State.index)
          }.elsewhen(side.own - found > side.length) { fail(wrong) }
        }
        is(State.claim) {
          side.own := found
          known := false.B
          state := Mux(found === side.own, State.give, State.space)
        }
        is(State.give) {
          when(!shared) { side.own := side.own + 1.U }
          state := State.publish
        }
        is(State.publish) {
          published := side.own
          when(shared) { side.own := side.own + 1.U }
          holds := false.B
          state := State.ready
        }
      }
    }
  }

  element.ready := state === State.ready && go
  stored.valid := isKnown
  stored.bits := published
  wide := side.isWide
  still := state === State.closed && !go
  done := state === State.ready
  quiet := Seq(
    State.closed -> !go,
    State.stopped -> go,
    State.ready -> (go && !element.valid),
    State.space -> ((line.watches || saw) && isFull && go)
  )
    .map { case (which, waits) => state === which && waits }
    .reduce(_ || _)
  wrote := answered && state === State.give
  advanced.foreach(_ := answered && state === State.publish && !line.response.fault)
}

/** Its current action. */
object QueueGiver {
  object State extends ChiselEnum {
    val closed, header, index, ready, space, claim, give, publish, stopped = Value
  }
}
