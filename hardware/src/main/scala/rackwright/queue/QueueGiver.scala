package rackwright.queue

import chisel3._
import chisel3.util._

/** The producer of a queue in memory: waits for places, writes elements that lie in one line, then its index.
  *
  * @param bytes
  *   of an element.
  */
class QueueGiver(bytes: Int) extends QueueEnd(bytes, Problem.outgoing) {
  import QueueGiver.State

  val element = IO(Flipped(Decoupled(new QueueElements)))

  /** Number of elements taken together: those in one line. */
  val takes = IO(Output(UInt(4.W)))

  /** All elements that it has received are published. */
  val done = IO(Output(Bool()))

  /** Number of elements written in this cycle. */
  val wrote = IO(Output(UInt(log2Ceil(QueueSide.perLine(bytes) + 1).W)))

  private val state = RegInit(State.closed)
  private val kept = Reg(UInt(512.W))
  private val count = Reg(UInt(wrote.getWidth.W))

  private val free = side.length - (side.own - side.other)(side.length.getWidth - 1, 0)
  takes := Mux(element.bits.count < side.inLine, element.bits.count, side.inLine)
  private val isFull = free < Mux(state === State.ready, takes, count)
  private val waits = state === State.space && (isFull && go || line.busy)
  line.request.valid := waits || Seq(State.header, State.index, State.give, State.publish).map(state === _).reduce(
    _ || _
  )
  line.request.bits.address := MuxLookup(state, header)(
    Seq(
      State.index -> (header + QueueLayout.writeIndex.U),
      State.space -> (header + QueueLayout.readIndex.U),
      State.give -> side.beat,
      State.publish -> (header + QueueLayout.writeIndex.U)
    )
  )
  line.request.bits.write := state === State.give || state === State.publish
  line.request.bits.watch := waits
  line.request.bits.words := Mux(state === State.give, side.words(count), 1.U)
  line.request.bits.beats := MuxLookup(state, 1.U)(Seq(State.header -> 2.U, State.give -> side.beats(count)))
  line.request.bits.data := MuxLookup(state, side.own)(Seq(
    State.give -> (kept << (side.odd ## 0.U(6.W))),
    State.space -> side.other
  ))
  line.withdraw := !go

  private def fail(why: Problem.Type): Unit = {
    report(why)
    state := State.stopped
  }

  when(state === State.closed && go) { state := State.header }
  when(state === State.ready && element.valid) { state := Mux(isFull, State.space, State.give) }
  when(state === State.space && !isFull) { state := State.give }
  when((state === State.ready || state === State.space && !line.busy || state === State.stopped) && !go) {
    state := State.closed
  }
  when(element.fire) {
    kept := element.bits.data
    count := takes
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
          side.other := found - side.length
          state := State.ready
        }
        is(State.space) {
          side.other := found
          when(side.own - found > side.length) { fail(wrong) }
        }
        is(State.give) {
          side.own := side.own + count
          state := State.publish
        }
        is(State.publish) { state := State.ready }
      }
    }
  }

  element.ready := state === State.ready && go
  still := state === State.closed && !go
  done := state === State.ready
  quiet := Seq(
    State.closed -> !go,
    State.stopped -> go,
    State.ready -> (go && !element.valid),
    State.space -> (line.watches && isFull && go)
  )
    .map { case (which, waits) => state === which && waits }
    .reduce(_ || _)
  wrote := Mux(answered && state === State.give, count, 0.U)
}

/** Its current action. */
object QueueGiver {
  object State extends ChiselEnum {
    val closed, header, index, ready, space, give, publish, stopped = Value
  }
}
