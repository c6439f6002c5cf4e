package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** The producer of a queue of elements of 8 bytes: writes several lines at a time, and publishes those that memory has
  * acknowledged.
  */
class ElementGiver extends QueueEnd(ElementEngine.bytes, Nil, Problem.outgoing) {
  import ElementGiver.State

  val lines = IO(new MemoryPort(LineMoves.port))
  val publishes = IO(new MemoryPort(LineAccess.port))
  val element = IO(Flipped(Decoupled(new QueueElements)))

  /** Number of elements taken together: those in one line. */
  val takes = IO(Output(UInt(4.W)))

  /** All elements that it has received are published. */
  val done = IO(Output(Bool()))

  /** Number of elements written in this cycle. */
  val wrote = IO(Output(UInt(4.W)))

  private val state = RegInit(State.closed)
  private val writer = Module(new LineWriter)
  private val publisher = Module(new IndexWriter)
  lines <> writer.memory
  publishes <> publisher.memory

  // The own index of `side` is that of the next element to be written.
  private val acknowledged = RegInit(0.U(64.W))
  private val runs = state === State.run && go
  private val free = side.free
  writer.part.bits := side.part(element.bits.count)
  takes := writer.part.bits.count
  private val fits = free >= takes
  writer.part.valid := runs && fits && element.valid
  element.ready := runs && fits && writer.part.ready
  writer.data := element.bits.data
  when(writer.part.fire) { side.own := side.own + takes }
  when(writer.written.valid) { acknowledged := acknowledged + writer.written.bits }
  publisher.address := header + QueueLayout.writeIndex.U
  publisher.index := acknowledged
  publisher.enable := state === State.run
  publisher.set := false.B
  index := acknowledged

  // Without a place it watches the consumer's index. Before, when less than half is free, it reads it once for each
  // line, beside the writes.
  private val looks, watches, stale = RegInit(false.B)
  when(writer.part.fire) { stale := true.B }
  when(runs && !looks) {
    when(element.valid && !fits) {
      looks := true.B
      watches := true.B
    }.elsewhen(stale && (free << 1) < side.length) {
      looks := true.B
      watches := false.B
      stale := false.B
    }
  }
  private val opens = state === State.header || state === State.index
  line.request.valid := opens || looks
  line.request.bits.address := MuxLookup(state, header + QueueLayout.readIndex.U)(
    Seq(State.header -> header, State.index -> (header + QueueLayout.writeIndex.U))
  )
  line.request.bits.write := false.B
  line.request.bits.watch := looks && watches
  line.request.bits.words := 1.U
  line.request.bits.beats := Mux(state === State.header, 2.U, 1.U)
  line.request.bits.data := side.other
  line.withdraw := !runs

  private def fail(why: Problem.Type): Unit = {
    report(why)
    state := State.stopped
  }
  private val settled = !looks && writer.empty && publisher.quiet
  when(state === State.closed && go) { state := State.header }
  when((state === State.run || state === State.stopped) && !go && settled) { state := State.closed }
  when(answered) { looks := false.B }
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
          // Taken for full until the consumer's index is known.
          side.own := found
          side.other := found - side.length
          acknowledged := found
          publisher.index := found
          publisher.set := true.B
          stale := false.B
          state := State.run
        }
        is(State.run) {
          side.other := found
          when(side.own - found > side.length) { fail(wrong) }
        }
      }
    }
  }
  when(state === State.run && (writer.fault || publisher.fault)) { fail(Problem.refused) }

  private val published = writer.empty && publisher.current
  stored.valid := state === State.run
  stored.bits := publisher.stored
  still := state === State.closed && !go
  done := state === State.run && published
  private val waits = Mux(element.valid, !fits && line.watches, !looks && !(stale && (free << 1) < side.length))
  quiet := Seq(
    State.closed -> !go,
    State.stopped -> (go && settled),
    State.run -> (go && published && waits)
  ).map { case (which, rests) => state === which && rests }.reduce(_ || _)
  wrote := Mux(writer.written.valid, writer.written.bits, 0.U)
}

/** Its current action. */
object ElementGiver {
  object State extends ChiselEnum {
    val closed, header, index, run, stopped = Value
  }
}
