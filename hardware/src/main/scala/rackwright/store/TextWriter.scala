package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.stream.ByteChunk

/** Says the responses to requests as memcached does, by phrases. */
class TextWriter extends Module {
  import TextWriter._
  import TextReader.Kind

  val clear = IO(Input(Bool()))
  val phrase = IO(Flipped(Decoupled(new Phrase)))

  /** Responses: the header in a chunk of its own, then the value in whole grains. */
  val response = IO(Flipped(Decoupled(new ByteChunk(Grain.bytes))))
  val chunk = IO(Decoupled(new ByteChunk(Grain.bytes)))

  /** The time in seconds. */
  val time = IO(Input(UInt(32.W)))

  /** Nothing is left to be said of the phrases so far. */
  val empty = IO(Output(Bool()))

  private val state = RegInit(State.next)
  private val now = phrase.bits

  // What stands in front of all that is said; without anything to say, it is not said either.
  private val leads = Reg(Vec(mostLeads, UInt(64.W)))
  private val leadCount, leadAt = RegInit(0.U(2.W))
  private val leading = leadAt =/= leadCount
  private val data = WireDefault(0.U((8 * Grain.bytes).W))
  private val count = WireDefault(0.U(chunk.bits.count.getWidth.W))
  private val wants = WireDefault(false.B)
  chunk.valid := wants
  chunk.bits.data := Mux(leading, leads(leadAt).pad(8 * Grain.bytes), data).asTypeOf(chunk.bits.data)
  chunk.bits.count := Mux(leading, 8.U, count)
  private val says = chunk.fire && !leading
  when(chunk.fire && leading) { leadAt := leadAt + 1.U }
  private def speak(what: UInt, bytes: UInt): Unit = {
    wants := true.B
    data := what
    count := bytes
  }

  // Of an item: the next part of what is said.
  private val step = Reg(Step())
  private val inItem = Reg(Bool())
  private val flags, valueBytes = Reg(UInt(32.W))
  private val version = Reg(UInt(64.W))
  private val withVersion = Reg(Bool())

  /** Only a number is said. */
  private val counted = Reg(Bool())
  private val status = Reg(UInt(Outcome.bits.W))
  private val literal = Reg(UInt(TextLiterals.bits.W))
  private def tell(number: UInt): Unit = {
    literal := number
    state := State.literal
  }
  private val goOn = Mux(inItem, State.item, State.next)

  // What is counted, and which counter is said next.
  private val statistics = Module(new Statistics)
  private val statistic = Reg(UInt(log2Ceil(Statistics.names.size).W))
  private val statisticStarts = VecInit(Statistics.names.map(TextLiterals(_)))
  private val statisticValue = RegNext(VecInit((time.pad(64) +: statistics.counts) :+ version)(statistic))
  statistics.happened.foreach(_ := false.B)
  statistics.clear := false.B
  private def tally(name: String): Unit = statistics.happened(Statistics.counters.indexOf(name)) := true.B
  private def tallyEither(what: String, hits: Bool): Unit = {
    when(hits) { tally(s"${what}_hits") }.otherwise { tally(s"${what}_misses") }
  }
  private def tallyChange(header: UInt): Unit = {
    val ok = has(header, Outcome.ok)
    val isKnown = ok || has(header, Outcome.missing)
    when(deletes && isKnown) { tallyEither("delete", ok) }
    when(now.operation === RequestHeader.increment && isKnown) { tallyEither("incr", ok) }
    when(now.operation === RequestHeader.decrement && isKnown) { tallyEither("decr", ok) }
    when(compares && isKnown) { tallyEither("cas", ok) }
    when(compares && has(header, Outcome.exists)) { tally("cas_badval") }
    when(touches) {
      tally("cmd_touch")
      tallyEither("touch", ok)
    }
    when(!has(header, Outcome.noMemory)) { tallyCommand() }
  }
  private def tallyCommand(): Unit = {
    when(RequestHeader.stores(now.operation.pad(16))) { tally("cmd_set") }
    when(now.operation === RequestHeader.flush) { tally("cmd_flush") }
  }

  phrase.ready := false.B
  response.ready := false.B
  private val header = response.bits.data.asUInt
  when(state === State.next && phrase.valid) {
    inItem := false.B
    counted := false.B
    phrase.ready := true.B
    switch(now.kind) {
      is(Kind.lead) {
        leads(leadCount) := now.data
        leadCount := leadCount + 1.U
      }
      is(Kind.literal) {
        when(!now.quiet) { tell(now.data) }
        tallyCommand()
        statistics.clear := now.data === TextLiterals("reset")
      }
      is(Kind.outcome) {
        phrase.ready := response.valid
        response.ready := true.B
        when(response.valid) { tallyChange(header) }
        when(response.valid && !now.quiet) {
          tell(MuxCase(
            TextLiterals("broken"),
            Seq(
              has(header, Outcome.ok) -> MuxCase(
                TextLiterals("stored"),
                Seq(
                  deletes -> TextLiterals("deleted"),
                  touches -> TextLiterals("touched"),
                  (now.operation === RequestHeader.flush) -> TextLiterals("okay")
                )
              ),
              has(header, Outcome.noMemory) -> TextLiterals("noMemory"),
              has(header, Outcome.tooLong) -> TextLiterals("tooLarge"),
              (has(header, Outcome.exists) && counts) -> TextLiterals("notNumber"),
              (refuses(header) && (deletes || compares || touches || counts)) ->
                Mux(has(header, Outcome.missing), TextLiterals("notFound"), TextLiterals("exists")),
              refuses(header) -> TextLiterals("notStored")
            )
          ))
          when(counts && has(header, Outcome.ok)) {
            version := header(191, 128)
            counted := true.B
            step := Step.version
            state := State.item
          }
          when(now.operation === RequestHeader.count && has(header, Outcome.ok)) {
            version := header(191, 128)
            statistic := 0.U
            inItem := true.B
            step := Step.statistic
            state := State.item
          }
        }
      }
      is(Kind.item) {
        phrase.ready := response.valid
        response.ready := true.B
        withVersion := now.operation === RequestHeader.getVersion
        status := header(Outcome.bits - 1, 0)
        valueBytes := header(63, 32)
        flags := header(95, 64)
        version := header(191, 128)
        step := Step.key
        when(response.valid) {
          tally("cmd_get")
          tallyEither("get", has(header, Outcome.ok))
          inItem := has(header, Outcome.ok)
          state := State.skip
          when(has(header, Outcome.ok)) { tell(TextLiterals("value")) }
        }
      }
    }
  }
  private def has(header: UInt, outcome: UInt): Bool = header(Outcome.bits - 1, 0) === outcome
  private def refuses(header: UInt): Bool = has(header, Outcome.missing) || has(header, Outcome.exists)
  private def deletes: Bool = now.operation === RequestHeader.delete
  private def touches: Bool = now.operation === RequestHeader.touch
  private def counts: Bool = RequestHeader.counts(now.operation.pad(16))
  private def compares: Bool = now.operation === RequestHeader.compareAndSet

  // The key of an item that is not there.
  when(state === State.skip) {
    phrase.ready := true.B
    when(phrase.valid && now.last) {
      state := State.next
      when(status =/= Outcome.missing) { tell(TextLiterals("broken")) }
    }
  }

  private val table = TextLiterals.table
  private val word = table(literal)
  when(state === State.literal) {
    speak(word.data, word.count)
    when(says) {
      literal := literal + 1.U
      when(word.last) { state := goOn }
    }
  }

  private val decimal = Module(new DecimalDigits)
  decimal.number.valid := false.B
  decimal.number.bits := MuxLookup(step, version)(
    Seq(Step.flags -> flags, Step.bytes -> valueBytes, Step.count -> statisticValue)
  )
  decimal.digit.ready := state === State.number && says
  private val afterSpace = Reg(Step())
  when(state === State.item) {
    switch(step) {
      is(Step.key) {
        when(phrase.valid) {
          speak(now.data, now.count)
          phrase.ready := says
          when(says && now.last) {
            afterSpace := Step.flags
            step := Step.separate
          }
        }
      }
      is(Step.separate) {
        step := afterSpace
        tell(TextLiterals("space"))
      }
      is(Step.flags) {
        decimal.number.valid := true.B
        afterSpace := Step.bytes
        state := State.number
      }
      is(Step.bytes) {
        decimal.number.valid := true.B
        afterSpace := Step.version
        state := State.number
      }
      is(Step.version) {
        decimal.number.valid := true.B
        afterSpace := Step.line
        state := State.number
      }
      is(Step.statistic) {
        step := Step.count
        tell(statisticStarts(statistic))
      }
      is(Step.count) {
        decimal.number.valid := true.B
        statistic := statistic + 1.U
        afterSpace := Mux(statistic === (Statistics.names.size - 1).U, Step.statisticsEnd, Step.statistic)
        state := State.number
      }
      is(Step.statisticsEnd) {
        inItem := false.B
        tell(TextLiterals("statisticsEnd"))
      }
      is(Step.line) {
        step := Step.value
        inItem := !counted
        tell(TextLiterals("line"))
      }
      is(Step.value) {
        val bytes = Mux(valueBytes > Grain.bytes.U, Grain.bytes.U, valueBytes)
        when(valueBytes === 0.U) {
          inItem := false.B
          tell(TextLiterals("line"))
        }.elsewhen(response.valid) {
          speak(header, bytes)
          response.ready := says
          when(says) { valueBytes := valueBytes - bytes }
        }
      }
    }
  }
  when(state === State.number && decimal.digit.valid) {
    speak(decimal.digit.bits, 1.U)
    when(says && decimal.last) {
      state := State.item
      step := Step.separate
      when(afterSpace === Step.line || (afterSpace === Step.version && !withVersion)) { step := Step.line }
      when(afterSpace === Step.statistic || afterSpace === Step.statisticsEnd) { step := afterSpace }
    }
  }

  empty := state === State.next && !phrase.valid
  when(clear) {
    state := State.next
    leadCount := 0.U
    leadAt := 0.U
  }
}

object TextWriter {

  /** Words in front of what is said. */
  val mostLeads: Int = 3

  object State extends ChiselEnum {
    val next, literal, skip, item, number = Value
  }

  /** Of an item, behind "VALUE "; of statistics. */
  object Step extends ChiselEnum {
    val key, separate, flags, bytes, version, line, value, statistic, count, statisticsEnd = Value
  }
}
