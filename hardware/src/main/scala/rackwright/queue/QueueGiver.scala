package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** The producer of a queue in memory: waits for a place, writes an element, then its index. */
class QueueGiver extends Module {
  import QueueGiver.State

  /** Where the header is, while `go`. */
  val header = IO(Input(UInt(64.W)))

  /** The queue is open; without it, what is under way ends, and `still` tells when. */
  val go = IO(Input(Bool()))
  val memory = IO(new MemoryPort(LineAccess.port))
  val element = IO(Flipped(Decoupled(new Ending)))
  val still = IO(Output(Bool()))

  /** All that it was given is published. */
  val done = IO(Output(Bool()))

  /** Nothing happens before memory answers a watch, an element comes, or an input changes. */
  val quiet = IO(Output(Bool()))

  /** In this cycle it has stopped for good. */
  val problem = IO(Valid(Problem()))

  /** Index of the next element; in this cycle one has been written. */
  val index = IO(Output(UInt(64.W)))
  val wrote = IO(Output(Bool()))

  private val state = RegInit(State.closed)
  private val side = new QueueSide(Ending.bytes)
  private val kept = Reg(new Ending)
  private val line = Module(new LineAccess)
  memory <> line.memory

  private val isFull = side.own - side.other === side.length
  private val waits = state === State.space && (isFull && go || line.busy)
  line.request.valid := waits || Seq(State.header, State.index, State.give, State.publish).map(state === _).reduce(
    _ || _
  )
  line.request.bits.address := MuxLookup(state, header)(
    Seq(
      State.index -> (header + QueueLayout.writeIndex.U),
      State.space -> (header + QueueLayout.readIndex.U),
      State.give -> side.place,
      State.publish -> (header + QueueLayout.writeIndex.U)
    )
  )
  line.request.bits.write := state === State.give || state === State.publish
  line.request.bits.watch := waits
  line.request.bits.half := state =/= State.give
  line.request.bits.beats := MuxLookup(state, 1.U)(Seq(State.header -> 2.U, State.give -> 2.U))
  line.request.bits.data := MuxLookup(state, side.own)(Seq(State.give -> kept.asUInt, State.space -> side.other))
  line.withdraw := !go

  private val read = line.response.data
  private val found = read(63, 0)
  private val answered = line.request.fire
  problem.valid := false.B
  problem.bits := Problem.outgoing
  private def fail(why: Problem.Type): Unit = {
    problem.valid := true.B
    problem.bits := why
    state := State.stopped
  }

  when(state === State.closed && go) { state := State.header }
  when(state === State.ready && element.valid) { state := Mux(isFull, State.space, State.give) }
  when(state === State.space && !isFull) { state := State.give }
  when((state === State.ready || state === State.space && !line.busy || state === State.stopped) && !go) {
    state := State.closed
  }
  when(element.fire) { kept := element.bits }
  when(answered) {
    when(line.response.fault) {
      fail(Problem.refused)
    }.otherwise {
      switch(state) {
        is(State.header) {
          val right = side.open(read)
          state := State.index
          when(!right) { fail(Problem.outgoing) }
        }
        is(State.index) {
          // Taken for full until the consumer's index is known.
          side.own := found
          side.other := found - side.length
          state := State.ready
        }
        is(State.space) {
          side.other := found
          when(side.own - found > side.length) { fail(Problem.outgoing) }
        }
        is(State.give) {
          side.own := side.own + 1.U
          state := State.publish
        }
        is(State.publish) { state := State.ready }
      }
    }
  }

  element.ready := state === State.ready && go
  index := side.own
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
  wrote := answered && state === State.give
}

/** What it does, or waits for. */
object QueueGiver {
  object State extends ChiselEnum {
    val closed, header, index, ready, space, give, publish, stopped = Value
  }
}
