package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.memory.{Sram, SramQueue}
import rackwright.stream.{ByteStream, Lines}

/** A part of what is said: see [[TextReader.Kind]]. */
class Phrase extends Bundle {
  val kind = TextReader.Kind()

  /** Bytes, the first one in the lowest bits, or the number of a literal. */
  val data = UInt(64.W)
  val count = UInt(4.W)

  /** The last part of a key. */
  val last = Bool()

  /** The operation that is answered. */
  val operation = UInt(4.W)

  /** Nothing is said. */
  val quiet = Bool()
}

/** Reads commands of memcached's text protocol behind the header of a datagram (memcached, doc/protocol.txt). Requests
  * are formed of them, and phrases with which their responses are said.
  */
class TextReader(params: Params) extends Module {
  import TextReader._

  /** A new operation begins; its region is known. */
  val clear = IO(Input(Bool()))
  val run = IO(Input(Bool()))

  /** The time in seconds. */
  val time = IO(Input(UInt(32.W)))

  /** Bytes that are returned unchanged, a multiple of 8: the last 8 are memcached's header of a datagram. */
  val lead = IO(Input(UInt(5.W)))
  val stream = IO(Flipped(new ByteStream(Grain.bytes)))

  /** Requests, by words. */
  val word = IO(Decoupled(UInt(64.W)))
  val phrase = IO(Decoupled(new Phrase))

  /** No request follows, because memory has refused a byte or not; nor a phrase. */
  val ended, faulted = IO(Output(Bool()))
  val silent = IO(Output(Bool()))

  /** Bytes of the text that have been taken. */
  val position = IO(Output(UInt(64.W)))

  private val state = RegInit(State.start)
  private val buffer = Module(new TextBuffer)
  private val words = Module(new CommitQueue(UInt(64.W), mostWords))
  private val phrases = Module(new SramQueue(new Phrase, 64))
  buffer.clear := clear
  words.clear := clear
  phrases.clear := clear
  buffer.stream <> stream
  word <> words.deq
  phrase <> phrases.deq
  position := buffer.position

  private def char(of: Char): UInt = of.toInt.U(8.W)
  private val byte = buffer.data(7, 0)
  private val following = buffer.data(15, 8)
  private val hasByte = buffer.count =/= 0.U
  private val hasTwo = buffer.count > 1.U
  private val over = buffer.ended
  buffer.take := 0.U
  words.commit := false.B
  words.withdraw := false.B
  words.enq.valid := false.B
  words.enq.bits := buffer.data
  phrases.enq.valid := false.B
  phrases.enq.bits := 0.U.asTypeOf(new Phrase)

  // The command, and the words of its line so far.
  private val command = Reg(Command())
  private val token = Reg(new Token)
  private val fields = RegInit(0.U(4.W))
  private val lineEnds = Reg(Bool())
  private val bad, badNumber, quiet, zero, tooLarge, resets, tallies = RegInit(false.B)
  private val seconds = Reg(UInt(32.W))
  private val expiry = RegNext(expiryOf(seconds, time))
  private val keyBytes, flags = Reg(UInt(32.W))
  private val valueBytes = Reg(UInt(valueBits.W))
  private val unique = Reg(UInt(64.W))
  private val isGet = command === Command.get || command === Command.gets
  private val compares = command === Command.cas
  private def isOneOf(commands: Command.Type*): Bool = commands.map(_ === command).reduce(_ || _)
  private val joins = isOneOf(Command.append, Command.prepend)
  private val stores = isOneOf(Command.set, Command.add, Command.replace, Command.cas) || joins
  private val counts = isOneOf(Command.incr, Command.decr)
  private val touches = command === Command.touch
  private val deletes = command === Command.delete
  private val changes = stores || counts || touches || deletes
  private val flushes = command === Command.flush
  private val asksStatistics = command === Command.stats
  private val isForAll = flushes || asksStatistics
  private val setsLevel = command === Command.verbosity

  private def begin(): Unit = {
    fields := 0.U
    token := Token.empty
    Seq(bad, badNumber, quiet, zero, tooLarge, resets, tallies).foreach(_ := false.B)
    seconds := 0.U
    command := Command.unknown
    state := State.line
  }
  private val operation = MuxLookup(command.asUInt, RequestHeader.get)(
    Command.operations.map { case (known, number) => known.asUInt -> number }
  )
  private val literal = Reg(UInt(TextLiterals.bits.W))
  private def say(name: String): Unit = {
    literal := TextLiterals(name)
    state := State.say
  }

  // What is returned unchanged, and whether the request is one datagram.
  private val leadLeft = Reg(UInt(5.W))
  private val isOne = Reg(Bool())
  when(state === State.start && run) {
    leadLeft := lead
    isOne := lead === 0.U
    state := State.lead
  }
  when(state === State.lead) {
    when(leadLeft === 0.U) {
      begin()
      when(!isOne) { state := State.ended }
    }.elsewhen(buffer.count >= 8.U) {
      phrases.enq.valid := true.B
      phrases.enq.bits.kind := Kind.lead
      phrases.enq.bits.data := buffer.data
      when(phrases.enq.ready) {
        buffer.take := 8.U
        leadLeft := leadLeft - 8.U
        isOne := buffer.data(47, 32) === Cat(1.U(8.W), 0.U(8.W))
      }
    }.elsewhen(over) { state := State.ended }
  }

  // The line, byte by byte; its words are looked at when they are complete.
  private val keys = Sram(Limits.keyWords, UInt(64.W))
  private val keyWord = Reg(Vec(8, UInt(8.W)))
  private val lane = token.bytes(2, 0)
  private val nextKeyWord = VecInit(keyWord.zipWithIndex.map { case (old, i) =>
    Mux(lane === i.U, byte, Mux(lane === 0.U, 0.U, old))
  })
  private val returns = byte === char('\r')
  private val ends = byte === char('\n') || (returns && hasTwo && following === char('\n'))
  private val steps = state === State.line && hasByte && !(returns && !hasTwo && !over)
  private val separates = ends || byte === char(' ')
  private val inKey = fields === 1.U || isGet
  when(steps && !separates && inKey && token.bytes <= Limits.keyBytes.U) {
    keyWord := nextKeyWord
    keys.write(token.bytes >> 3, nextKeyWord.asUInt)
  }
  when(state === State.line) {
    when(steps) {
      buffer.take := Mux(ends && returns, 2.U, 1.U)
      lineEnds := ends
      when(!separates) {
        token := Token.joined(token, byte)
      }.elsewhen(!token.isEmpty) {
        state := State.word
      }.elsewhen(ends) { state := State.judge }
    }.elsewhen(!hasByte && over) {
      // The end of the datagram ends a line that has been answered in part.
      when(isGet && fields > 1.U) { say("end") }.otherwise { state := State.ended }
    }
  }
  private val longKey = token.bytes > Limits.keyBytes.U
  when(state === State.word) {
    fields := Mux(fields.andR, fields, fields + 1.U)
    token := Token.empty
    quiet := (changes || flushes || setsLevel) && token.is("noreply")
    state := Mux(lineEnds, State.judge, State.line)
    when(fields === 0.U) {
      for ((name, known) <- Command.names) when(token.is(name)) { command := known }
    }.elsewhen(isGet) {
      keyBytes := token.bytes
      bad := bad || longKey
      when(!bad && !longKey) { state := State.header }
    }.elsewhen(fields === 1.U) {
      keyBytes := token.bytes
      bad := longKey
      resets := token.is("reset")
      when(flushes) { seconds := token.low }
      badNumber := (flushes && !token.isSigned) || (setsLevel && !token.isUnsigned)
    }.otherwise {
      when(fields === 2.U) {
        zero := token.is("0")
        when(counts) { unique := token.number }
        when(touches) { seconds := token.low }
        when(counts || touches) { badNumber := Mux(counts, !token.isUnsigned, !token.isSigned) }
      }
      when(stores) {
        switch(fields) {
          is(2.U) {
            flags := token.number
            bad := bad || !token.isUnsigned
          }
          is(3.U) {
            seconds := Mux(joins, 0.U, token.low)
            bad := bad || !token.isSigned
          }
          is(4.U) {
            valueBytes := token.number
            tooLarge := token.number > mostValue.U
            bad := bad || !token.isUnsigned
          }
          is(5.U) {
            unique := token.number
            bad := bad || (compares && !token.isUnsigned)
          }
        }
      }
    }
  }

  // The whole line.
  private val least = Mux(compares, 6.U, 5.U)
  private val fewest = Mux(deletes, 2.U, 3.U)
  private val wrongCount = Mux(stores, fields < least || fields > least + 1.U, fields < fewest || fields > 4.U)
  private val otherDelete = (fields === 3.U && !zero && !quiet) || (fields === 4.U && !(zero && quiet))
  private val void = Reg(Bool())
  private val left = Reg(UInt(valueBits.W))
  when(state === State.judge) {
    void := tooLarge
    left := valueBytes
    when(isGet) {
      when(fields < 2.U) { say("error") }.elsewhen(bad) { say("badLine") }.otherwise { say("end") }
    }.elsewhen(command === Command.version) { say("version") }
      .elsewhen(command === Command.quit) { state := State.ended }
      .elsewhen((setsLevel && fields < 2.U) || ((setsLevel || flushes) && fields > 3.U)) {
        quiet := false.B
        say("error")
      }
      .elsewhen(setsLevel) { when(badNumber) { say("badLine") }.otherwise { say("okay") } }
      .elsewhen(flushes) {
        tallies := true.B
        when(badNumber && !(quiet && fields === 2.U)) { say("badTime") }.otherwise { state := State.header }
      }
      .elsewhen(asksStatistics) {
        when(fields === 1.U) { state := State.header }
          .elsewhen(resets) { say("reset") }
          .otherwise { say("error") }
      }
      .elsewhen(!changes || wrongCount) { say("error") }
      .elsewhen(deletes && otherDelete) { say("badDelete") }
      .elsewhen(bad) { say("badLine") }
      .elsewhen(badNumber) {
        say("badTime")
        when(counts) { literal := TextLiterals("badDelta") }
      }
      .elsewhen(tooLarge) {
        literal := TextLiterals("tooLarge")
        state := State.value
      }
      .otherwise { state := State.header }
  }
  when(state === State.say) {
    phrases.enq.valid := true.B
    phrases.enq.bits.kind := Kind.literal
    phrases.enq.bits.data := literal
    phrases.enq.bits.quiet := quiet
    phrases.enq.bits.operation := Mux(tallies, operation, RequestHeader.get)
    when(phrases.enq.ready) { begin() }
  }

  // A request: header, version, key; then the key for what is said of an item. What is for all items has no key.
  private val keyAt = Reg(UInt(log2Ceil(Limits.keyWords).W))
  private val saysKey = Reg(Bool())
  private val expires = expiry =/= 0.U
  private val isLastWord = keyAt === (keyBytes(7, 0) - 1.U) >> 3
  private val found = keys.read(keyAt, state === State.keyAsk)
  private def put(data: UInt, next: State.Type): Unit = {
    words.enq.valid := true.B
    words.enq.bits := data
    when(words.enq.ready) { state := next }
  }
  when(state === State.header) {
    keyAt := 0.U
    saysKey := false.B
    val lengths = Cat(Mux(stores, valueBytes, 0.U).pad(32), Mux(isForAll, 0.U, keyBytes(15, 0)))
    put(Cat(lengths, expires, operation(14, 0)), State.flags)
  }
  when(state === State.flags) {
    put(Mux(stores, flags, 0.U).pad(64), MuxCase(State.keyAsk, Seq(expires -> State.expiry, isForAll -> State.commit)))
    when((compares || counts) && words.enq.ready) { state := State.version }
  }
  when(state === State.version) { put(unique, Mux(expires, State.expiry, State.keyAsk)) }
  // As with memcached, a flush is in effect in the last second before its time already.
  when(state === State.expiry) {
    put(Mux(flushes, expiry - 1.U, expiry).pad(64), Mux(flushes, State.commit, State.keyAsk))
  }
  when(state === State.keyAsk) { state := State.key }
  when(state === State.key) {
    phrases.enq.bits.kind := Kind.key
    phrases.enq.bits.data := found
    phrases.enq.bits.count := Mux(isLastWord && keyBytes(2, 0) =/= 0.U, keyBytes(2, 0), 8.U)
    phrases.enq.bits.last := isLastWord
    when(saysKey) {
      phrases.enq.valid := true.B
    }.otherwise { put(found, State.key) }
    // A word that has no room is read again.
    state := State.keyAsk
    when(Mux(saysKey, phrases.enq.ready, words.enq.ready)) {
      keyAt := keyAt + 1.U
      when(isLastWord) {
        state := Mux(stores, State.value, State.commit)
        when(saysKey) { state := Mux(lineEnds, State.judge, State.line) }
      }
    }
  }
  when(state === State.commit) {
    words.commit := true.B
    state := State.respond
  }
  when(state === State.respond) {
    phrases.enq.valid := true.B
    phrases.enq.bits.kind := Mux(isGet, Kind.item, Kind.outcome)
    phrases.enq.bits.operation := operation
    phrases.enq.bits.quiet := quiet
    keyAt := 0.U
    saysKey := true.B
    when(phrases.enq.ready) { when(isGet) { state := State.keyAsk }.otherwise { begin() } }
  }

  // The value, by words; its request counts when it is complete.
  private val part = Mux(left > 8.U, 8.U, left(3, 0))
  when(state === State.value) {
    when(left === 0.U) {
      state := State.valueEnd
    }.elsewhen(buffer.count >= part) {
      words.enq.valid := !void
      words.enq.bits := buffer.data & FillInterleaved(8, Lines.mask(part, 8))
      when(void || words.enq.ready) {
        buffer.take := part
        left := left - part
      }
    }.elsewhen(over) { state := State.cut }
  }
  when(state === State.valueEnd) {
    when(hasTwo) {
      buffer.take := 2.U
      val good = returns && following === char('\n')
      when(!good) {
        words.withdraw := true.B
        tallies := true.B
        say("badChunk")
      }.elsewhen(void) { state := State.say }.otherwise { state := State.commit }
    }.elsewhen(over) { state := State.cut }
  }
  when(state === State.cut) {
    words.withdraw := true.B
    state := State.ended
  }

  private val done = state === State.ended
  ended := done && words.empty
  faulted := buffer.faulted
  silent := done && phrases.empty
  when(clear) {
    state := State.start
  }
}

object TextReader {

  /** Words of requests that may wait: more than those of the longest one. */
  val mostWords: Int = 512

  /** The longest time in seconds that counts from now on: 30 days. What is longer is a time itself. */
  private val mostRelative: Int = 60 * 60 * 24 * 30

  /** When an item expires that has such a time in its command; a negative one has passed. */
  private def expiryOf(seconds: UInt, time: UInt): UInt = MuxCase(
    seconds,
    Seq(
      (seconds === 0.U) -> 0.U,
      seconds(31) -> 1.U,
      (seconds <= mostRelative.U) -> (time + seconds)
    )
  )

  /** Bytes of the longest value, which a packet with its command line holds. */
  val mostValue: Int = 2048
  private val valueBits = 32

  /** Bytes that stand in front of what is said; a literal; how a change has ended; an item, and the parts of its key.
    */
  object Kind extends ChiselEnum {
    val lead, literal, outcome, item, key = Value
  }

  object State extends ChiselEnum {
    val start, lead, line, word, judge, say, header, flags, version, expiry, keyAsk, key, commit, respond, value,
        valueEnd, cut, ended = Value
  }

  object Command extends ChiselEnum {
    val unknown, get, gets, set, add, replace, cas, append, prepend, delete, touch, incr, decr, version, flush, stats,
        verbosity, quit = Value
    def names: Seq[(String, Type)] = Seq(
      "get" -> get,
      "gets" -> gets,
      "set" -> set,
      "add" -> add,
      "replace" -> replace,
      "cas" -> cas,
      "append" -> append,
      "prepend" -> prepend,
      "delete" -> delete,
      "touch" -> touch,
      "incr" -> incr,
      "decr" -> decr,
      "version" -> version,
      "flush_all" -> flush,
      "stats" -> stats,
      "verbosity" -> verbosity,
      "quit" -> quit
    )
    def operations: Seq[(Type, UInt)] = Seq(
      gets -> RequestHeader.getVersion,
      set -> RequestHeader.set,
      add -> RequestHeader.add,
      replace -> RequestHeader.replace,
      cas -> RequestHeader.compareAndSet,
      append -> RequestHeader.append,
      prepend -> RequestHeader.prepend,
      delete -> RequestHeader.delete,
      touch -> RequestHeader.touch,
      incr -> RequestHeader.increment,
      decr -> RequestHeader.decrement,
      flush -> RequestHeader.flush,
      stats -> RequestHeader.count
    )
  }
}
