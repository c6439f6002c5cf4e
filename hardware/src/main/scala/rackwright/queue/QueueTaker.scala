package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** The consumer of a queue in memory: gives its elements, one after the other, and releases their places. */
class QueueTaker extends Module {
  import QueueTaker.State

  /** Where the header is, while `go`. */
  val header = IO(Input(UInt(64.W)))

  /** The queue is open; without it, what is under way ends, and `still` tells when. */
  val go = IO(Input(Bool()))

  /** Stops at the end of what is published: `drained` tells that it has come there. */
  val last = IO(Input(Bool()))
  val memory = IO(new MemoryPort(LineAccess.port))

  /** The element that was read last, until somebody takes it. */
  val element = IO(Decoupled(new Descriptor))
  val still = IO(Output(Bool()))
  val drained = IO(Output(Bool()))

  /** Nothing happens before memory answers a watch, the element is taken, or an input changes. */
  val quiet = IO(Output(Bool()))

  /** In this cycle it has stopped for good. */
  val problem = IO(Valid(Problem()))

  /** Index of the next element; in this cycle one has been read, the index of an empty queue has been looked at. */
  val index = IO(Output(UInt(64.W)))
  val taken = IO(Output(Bool()))
  val looked = IO(Output(Bool()))

  private val state = RegInit(State.closed)
  private val side = new QueueSide(Descriptor.bytes)
  private val full = RegInit(false.B)
  private val fetched = Reg(new Descriptor)
  private val line = Module(new LineAccess)
  memory <> line.memory

  private val isEmpty = side.own === side.other
  private val free = !full || element.ready
  // A look waits until the index is another one than was known. The last one does not.
  private val looksLast = Reg(Bool())
  private val isLast = Mux(line.busy, looksLast, last)
  looksLast := isLast
  private val looks = state === State.look && (isEmpty && go || line.busy)
  line.request.valid := looks || Seq(State.header, State.index, State.fetch, State.release).map(state === _).reduce(
    _ || _
  )
  line.request.bits.address := MuxLookup(state, header)(
    Seq(
      State.index -> (header + QueueLayout.readIndex.U),
      State.look -> (header + QueueLayout.writeIndex.U),
      State.fetch -> side.place,
      State.release -> (header + QueueLayout.readIndex.U)
    )
  )
  line.request.bits.write := state === State.release
  line.request.bits.watch := looks && !isLast
  line.request.bits.half := true.B
  line.request.bits.beats := MuxLookup(state, 1.U)(Seq(State.header -> 2.U, State.fetch -> 4.U))
  line.request.bits.data := side.own
  line.withdraw := last || !go

  // Indices are compared as they are: they count on and on, and wrap after as many elements as nobody gives.
  private val read = line.response.data
  private val found = read(63, 0)
  private val done = line.request.fire
  problem.valid := false.B
  problem.bits := Problem.incoming
  private def fail(why: Problem.Type): Unit = {
    problem.valid := true.B
    problem.bits := why
    state := State.stopped
  }

  when(state === State.closed && go) { state := State.header }
  when(state === State.look && !isEmpty && free && go) { state := State.fetch }
  when(state === State.look && !line.busy && !go) { state := State.closed }
  when(state === State.stopped && !go) { state := State.closed }
  when(element.fire) { full := false.B }
  when(done) {
    when(line.response.fault) {
      fail(Problem.refused)
    }.otherwise {
      switch(state) {
        is(State.header) {
          val right = side.open(read)
          state := State.index
          when(!right) { fail(Problem.incoming) }
        }
        is(State.index) {
          side.own := found
          side.other := found
          state := State.look
        }
        is(State.look) {
          side.other := found
          when(found - side.own > side.length) { fail(Problem.incoming) }
            .elsewhen(found =/= side.own && free && go) { state := State.fetch }
            .elsewhen(found === side.own && isLast) { state := State.stopped }
        }
        is(State.fetch) {
          fetched := read.asTypeOf(new Descriptor)
          full := true.B
          side.own := side.own + 1.U
          state := State.release
        }
        is(State.release) { state := State.look }
      }
    }
  }
  when(state === State.closed) { full := false.B }

  element.valid := full
  element.bits := fetched
  index := side.own
  still := state === State.closed && !go
  drained := state === State.stopped
  quiet := Seq(State.closed -> !go, State.stopped -> go, State.look -> (Mux(isEmpty, line.watches, !free) && go))
    .map { case (which, waits) => state === which && waits }
    .reduce(_ || _)
  taken := done && state === State.fetch
  looked := done && state === State.look
}

/** What it does, or waits for. */
object QueueTaker {
  object State extends ChiselEnum {
    val closed, header, index, look, fetch, release, stopped = Value
  }
}
