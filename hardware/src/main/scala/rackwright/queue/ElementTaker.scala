package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** The consumer of a queue of elements of 8 bytes: while it watches the producer's index, it reads several lines ahead,
  * and releases the places of those that have been taken.
  */
class ElementTaker extends QueueEnd(ElementEngine.bytes, Nil, Problem.incoming) {
  import ElementTaker.State

  /** Stops at the end of the published elements: `drained` is high when all of them have been taken. */
  val last = IO(Input(Bool()))
  val lines = IO(new MemoryPort(LineMoves.port))
  val releases = IO(new MemoryPort(LineAccess.port))
  val element = IO(Decoupled(new QueueElements))
  val drained = IO(Output(Bool()))

  /** Number of elements taken in this cycle; whether the index of the other side has been read. */
  val taken = IO(Output(UInt(4.W)))
  val looked = IO(Output(Bool()))

  private val state = RegInit(State.closed)
  private val reader = Module(new LineReader)
  private val releaser = Module(new IndexWriter)
  lines <> reader.memory
  releases <> releaser.memory
  element <> reader.out

  // The own index of `side` is that of the next element to be read.
  private val delivered = RegInit(0.U(64.W))
  private val runs = state === State.run
  private val ahead = side.ahead
  reader.part.valid := runs && go && ahead =/= 0.U
  reader.part.bits := side.part(ahead)
  reader.clear := state === State.closed
  when(reader.part.fire) { side.own := side.own + reader.part.bits.count }
  when(element.fire) { delivered := delivered + element.bits.count }
  releaser.address := header + QueueLayout.readIndex.U
  releaser.index := delivered
  releaser.enable := runs
  releaser.set := false.B
  index := delivered

  // The read waits until the index differs from the known one. The last one does not.
  private val ended = Reg(Bool())
  private val looksLast = Reg(Bool())
  private val isLast = Mux(line.busy, looksLast, last)
  looksLast := isLast
  private val opens = state === State.header || state === State.index
  line.request.valid := opens || runs && go && !ended || line.busy
  line.request.bits.address := MuxLookup(state, header + QueueLayout.writeIndex.U)(
    Seq(State.header -> header, State.index -> (header + QueueLayout.readIndex.U))
  )
  line.request.bits.write := false.B
  line.request.bits.watch := !opens && !isLast
  line.request.bits.words := 1.U
  line.request.bits.beats := Mux(state === State.header, 2.U, 1.U)
  line.request.bits.data := side.other
  line.withdraw := last || !runs || !go

  private def fail(why: Problem.Type): Unit = {
    report(why)
    state := State.stopped
  }
  private val settled = !line.busy && reader.settled && releaser.quiet
  private val isOver = ended && side.own === side.other && reader.empty && releaser.current
  when(state === State.closed && go) { state := State.header }
  when((runs || state === State.stopped) && !go && settled) { state := State.closed }
  when(runs && go && isOver) { state := State.stopped }
  when(answered && state =/= State.stopped) {
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
          delivered := found
          releaser.index := found
          releaser.set := true.B
          ended := false.B
          state := State.run
        }
        is(State.run) {
          side.other := found
          when(isLast && found === side.other) { ended := true.B }
          when(found - side.own > side.length) { fail(wrong) }
        }
      }
    }
  }
  when(runs && (reader.fault || releaser.fault)) { fail(Problem.refused) }

  stored.valid := state === State.run
  stored.bits := releaser.stored
  still := state === State.closed && !go
  drained := state === State.stopped
  private val waits = reader.settled && !element.fire && (ahead === 0.U || reader.full)
  quiet := Seq(
    State.closed -> !go,
    State.stopped -> (go && settled),
    State.run -> (go && line.watches && waits && releaser.current)
  ).map { case (which, rests) => state === which && rests }.reduce(_ || _)
  taken := Mux(element.fire, element.bits.count, 0.U)
  looked := answered && runs
}

/** Its current action. */
object ElementTaker {
  object State extends ChiselEnum {
    val closed, header, index, run, stopped = Value
  }
}
