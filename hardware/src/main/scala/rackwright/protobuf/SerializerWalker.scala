package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.LoadedBeat

/** What is kept of a message while one of its sub-messages is walked. */
class WalkedMessage extends Bundle {
  val message = UInt(DescriptorTable.addressBits.W)
  val position = new ListPosition
  val hasbits = UInt(32.W)

  /** The field that is walked, and what is left of its array. */
  val tag = UInt(32.W)
  val table = UInt(DescriptorTable.addressBits.W)
  val array = UInt(DescriptorTable.addressBits.W)
  val left = UInt(31.W)

  /** The element to enter next, which may be known before its turn. */
  val next = Valid(UInt(DescriptorTable.addressBits.W))

  /** Bytes of the message, as far as they are read ahead. */
  val size = UInt(SerializerWalker.sizeBits.W)
}

/** Walks messages, from the last field to the first, and says what is to be written.
  *
  * [[SerializerList]] finds entries, [[SerializerFetch]] reads fields; here are messages and arrays of pointers.
  */
class SerializerWalker(params: SerializerParams) extends Module {
  import SerializerWalker.State
  private val addressBits = DescriptorTable.addressBits
  private val offsetBits = log2Ceil(params.portBytes)

  /** Messages to walk. */
  val request = IO(Flipped(Decoupled(new SerializerRequest)))

  /** What is to be written, in descending order of address. */
  val operation = IO(Decoupled(new SerializerOperation(params)))

  /** Strings and arrays for the field serializers, which take them in turns. */
  val tasks = IO(Vec(params.fieldSerializers, Decoupled(new FieldTask)))

  /** Number of the request that need not be walked any further. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** Rows of descriptor tables. */
  val rowRequest = IO(Decoupled(new SerializerRowRequest))
  val row = IO(Flipped(Decoupled(new SerializerRow)))
  val cancelRow = IO(Output(Bool()))

  /** Beats of objects. */
  val beatRequest = IO(Decoupled(UInt((addressBits - offsetBits).W)))
  val beat = IO(Flipped(Decoupled(new LoadedBeat(params.portBytes))))
  val prefetch = IO(Valid(new SerializerPrefetch(addressBits - offsetBits)))

  /** Since when beats of the message must have been read. */
  val since = IO(Output(UInt(SerializerCache.timeBits.W)))

  /** Descriptor tables have changed; between requests. */
  val flush = IO(Input(Bool()))

  /** The outermost type walked last and the bytes of its objects, as far as they are read ahead. */
  val latest = IO(Valid(UInt(addressBits.W)))
  val latestBytes = IO(Output(UInt(SerializerWalker.sizeBits.W)))
  val cancelBeat = IO(Output(Bool()))

  /** No message is walked. */
  val idle = IO(Output(Bool()))

  private val list = Module(new SerializerList)
  private val fetch = Module(new SerializerFetch(params.portBytes))
  private val stack = Module(new LevelStack(new WalkedMessage, params.depth - 1))

  private val state = RegInit(State.idle)
  private val at = Reg(new WalkedMessage)
  private val isInner = Reg(Bool())
  private val isString = Reg(Bool())
  private val status = Reg(UInt(Status.width.W))
  private val known = Reg(new KnownPresence)
  private val turn = RegInit(0.U(params.fieldBits.W))
  private val table = Reg(UInt(addressBits.W))
  // A message that is entered as soon as one that follows it has been announced: they are read at the same time.
  private val held = RegInit(false.B)
  private val heldMessage = Reg(new FoundField)
  private val heldPosition = Reg(new ListPosition)
  private val peeked = Reg(Bool())
  private def on(which: State.Type): Bool = state === which
  private val walking = on(State.fields)
  idle := on(State.idle)

  // Reads of an object: of its fields, or, one at a time, what is asked for here.
  private val asking = Wire(Bool())
  private val place = Wire(UInt(addressBits.W))
  private val reading = RegInit(false.B)
  private val read = Reg(UInt(addressBits.W))
  private val answer = reading && beat.valid
  private val answerTaken = WireDefault(false.B)
  beatRequest.valid := asking || (walking && fetch.request.valid)
  beatRequest.bits := Mux(asking, place, fetch.request.bits) >> offsetBits
  fetch.request.ready := walking && !asking && beatRequest.ready
  fetch.response.valid := beat.valid && !reading
  fetch.response.bits := beat.bits
  beat.ready := Mux(reading, answerTaken, fetch.response.ready)
  private val asked = asking && beatRequest.ready
  when(asked) { read := place }
  reading := asked || (reading && !answerTaken)
  private val words = beat.bits.data.asTypeOf(Vec(params.portBytes / 8, UInt(64.W)))
  private def wordAt(address: UInt): UInt = words(address(offsetBits - 1, 3))
  private val word = wordAt(read)

  // The parts of the hasbits, and the one for the field at hand.
  private val hasbits = at.message + at.hasbits
  private val wantsPart = walking && list.wanted.valid && fetch.idle && !held
  private def learn(part: UInt, bits: UInt): Unit = {
    known.hasbits.valid := true.B
    known.hasbits.bits := bits
    known.part := part
  }
  private def forgetPresence(): Unit = {
    known.hasbits.valid := false.B
    known.holder.valid := false.B
  }
  list.known := known
  when(fetch.holder.valid) {
    known.holder := fetch.holder
    known.oneof := fetch.oneof
  }

  // Entries are handed on while a message is walked.
  fetch.message := at.message
  private val mayFetch = walking && !(held && peeked)
  fetch.entry.valid := list.entry.valid && mayFetch
  fetch.entry.bits := list.entry.bits
  list.entry.ready := fetch.entry.ready && mayFetch
  // Nothing is under way in the caches when a message is entered: they take its requests at once.
  private val enters = on(State.enter) && (operation.ready || !isInner)
  rowRequest.valid := enters || (!on(State.enter) && list.request.valid)
  rowRequest.bits := list.request.bits
  when(on(State.enter)) {
    rowRequest.bits.address := table
    rowRequest.bits.continues := false.B
  }
  list.request.ready := !on(State.enter) && rowRequest.ready
  list.response.valid := row.valid && !on(State.header)
  list.response.bits := row.bits
  row.ready := Mux(on(State.header), true.B, list.response.ready)
  // Elements that are messages are read ahead by one.
  private val entersLast = !isString && at.next.valid && at.left === 1.U
  private val element = at.array + ((at.left - Mux(!isString && at.next.valid, 2.U, 1.U)) << 3)
  asking := Mux(
    on(State.enter),
    enters,
    !reading && (wantsPart || (on(State.array) && at.left =/= 0.U && !entersLast))
  )
  place := Mux(
    on(State.enter),
    at.message + 8.U,
    Mux(on(State.array), element, hasbits + (list.wanted.bits << 3))
  )

  // What is found becomes an operation, a task, or a message to enter.
  private val found = fetch.found
  private val isTask = found.bits.kind === FoundKind.string || found.bits.kind === FoundKind.numbers
  private val pointer = word(addressBits - 1, 0)
  private val pointerIsWild = (word >> addressBits).orR || pointer(2, 0).orR || pointer === 0.U
  private val inArray = on(State.array) && answer && !beat.bits.fault && !pointerIsWild
  private val task = Wire(new FieldTask)
  task.address := Mux(on(State.array), pointer, found.bits.address)
  task.isString := on(State.array) || found.bits.kind === FoundKind.string
  task.count := found.bits.count
  task.kind := found.bits.entry.field.kind
  task.packed := found.bits.entry.field.packed
  task.tag := Mux(on(State.array), at.tag, found.bits.entry.tag)
  task.skipEmpty := !on(State.array) && found.bits.entry.field.implicitPresence && !found.bits.entry.field.inOneof
  private val taskReady = VecInit(tasks.map(_.ready))(turn)
  private val hasTask = (walking && found.valid && isTask) || (inArray && isString)
  for ((field, index) <- tasks.zipWithIndex) {
    field.valid := hasTask && operation.ready && turn === index.U
    field.bits := task
  }
  when(hasTask && operation.ready && taskReady) {
    turn := Mux(turn === (params.fieldSerializers - 1).U, 0.U, turn + 1.U)
  }

  operation.valid := MuxCase(
    false.B,
    Seq(
      hasTask -> taskReady,
      walking -> (found.valid && found.bits.kind === FoundKind.number),
      on(State.enter) -> isInner,
      (on(State.close) || on(State.finish)) -> true.B
    )
  )
  operation.bits.kind := MuxCase(
    OperationKind.number,
    Seq(
      hasTask -> OperationKind.field,
      on(State.enter) -> OperationKind.open,
      on(State.close) -> OperationKind.close,
      on(State.finish) -> OperationKind.finish
    )
  )
  operation.bits.tag := Mux(on(State.close), at.tag, found.bits.entry.tag)
  operation.bits.number := found.bits.number
  operation.bits.serializer := turn
  operation.bits.status := Mux(on(State.finish), status, Status.ok)
  found.ready := walking && Mux(
    isTask,
    operation.ready && taskReady,
    found.bits.kind =/= FoundKind.number || operation.ready
  )

  private def fail(why: UInt): Unit = {
    status := why
    state := State.finish
  }
  private def begin(): Unit = {
    at.message := request.bits.message
    table := request.bits.table
    isInner := false.B
    when(request.fire) {
      state := State.enter
      when(request.bits.refused) { fail(Status.accessFault) }
    }
  }
  private val around = WireDefault(at)
  around.position := list.position
  stack.push.valid := false.B
  stack.push.bits := around
  private val leaves = walking && list.finished && fetch.ends && !reading && !held
  stack.pop := leaves && !stack.empty
  private def enter(message: UInt, newTable: UInt): Unit = {
    when(stack.full) { fail(Status.unsupported) }.otherwise {
      stack.push.valid := true.B
      at.message := message
      table := newTable
      isInner := true.B
      state := State.enter
    }
  }

  /** The metadata word is here, and mostly the first hasbits with it. */
  private def learnMetadata(hasbits: UInt): Unit = {
    answerTaken := true.B
    state := State.fields
    when(hasbits >> offsetBits === read >> offsetBits) { learn(0.U, wordAt(hasbits)) }
    when(beat.bits.fault) { fail(Status.accessFault) }.elsewhen(word(0)) { fail(Status.unsupported) }
  }

  private def enterField(field: FoundField, position: ListPosition): Unit = {
    around.tag := field.entry.tag
    around.left := 0.U
    around.position := position
    enter(field.address, field.entry.field.table)
  }

  // The header of a table (README.md).
  private val size = row.bits.word(1)(31, 0)
  private val hasHasbits = row.bits.word(2)(63, 32) =/= 0.U
  private val entries = row.bits.word(6)(31, 0)
  private val listWord = row.bits.word(5)
  private val listAddress = listWord(addressBits - 1, 0)
  private val foreign = row.bits.word(6)(32) || entries > DescriptorTable.maximumEntries.U ||
    table(5, 0).orR || listAddress(5, 0).orR || (hasHasbits && row.bits.word(2)(2, 0).orR)
  private val mostBeats = (params.objectLines / 2).min((1 << SerializerCache.prefetchBits) - 1)
  private val mostBytes = (mostBeats - 1) * params.portBytes
  private val knownBytes = Mux(size > mostBytes.U, mostBytes.U, size(SerializerWalker.sizeBits - 1, 0))
  // Pointers of an array are read ahead in groups of a power of two, three groups at first.
  private val group = 16.min(1 << log2Floor(mostBytes / (3 * 8)))
  private val pointersAhead = 3 * group
  private val pointerBits = log2Ceil(pointersAhead + 1)
  private val elementBytes = Reg(UInt(SerializerWalker.sizeBits.W))
  prefetch.valid := false.B
  prefetch.bits := DontCare

  /** Has the beats of `bytes` bytes, at most `mostBytes`, read before they are asked for. */
  private def readAhead(address: UInt, bytes: UInt): Unit = {
    prefetch.valid := true.B
    prefetch.bits.since := time
    prefetch.bits.number := address >> offsetBits
    val end = address(offsetBits - 1, 0) +& bytes +& (params.portBytes - 1).U
    prefetch.bits.left := (end >> offsetBits).pad(SerializerCache.prefetchBits)(SerializerCache.prefetchBits - 1, 0)
  }

  list.start.valid := false.B
  list.start.bits.list := listAddress
  list.start.bits.left := entries(SerializerList.countBits - 1, 0)
  list.stop := on(State.finish) || on(State.enter) || on(State.idle)
  cancelRow := list.stop
  cancelBeat := on(State.finish)
  fetch.clear := on(State.finish)
  stack.clear := on(State.finish)
  request.ready := on(State.idle) || (on(State.finish) && operation.ready)
  private val time = RegEnable(request.bits.time, request.fire)
  // Requests are counted from 0 where they are written, and from 1 as times.
  private val number = (time - 1.U)(SerializerEncoder.requestBits - 1, 0)
  since := time
  private val latestTable = RegInit(0.U.asTypeOf(latest))
  private val latestSize = Reg(latestBytes.cloneType)
  latest := latestTable
  latestBytes := latestSize

  switch(state) {
    is(State.idle) { begin() }
    is(State.enter) {
      forgetPresence()
      when(enters) { state := State.header }
    }
    is(State.header) {
      when(row.valid) {
        at.hasbits := row.bits.word(2)(31, 0)
        at.left := 0.U
        at.size := knownBytes
        readAhead(at.message, knownBytes)
        when(!isInner) {
          latestTable.valid := true.B
          latestTable.bits := table
          latestSize := knownBytes
        }
        list.start.valid := true.B
        state := State.metadata
        when(answer) { learnMetadata(at.message + row.bits.word(2)(31, 0)) }
        when(row.bits.fault || (listWord >> addressBits).orR) { fail(Status.accessFault) }
          .elsewhen(foreign) { fail(Status.unsupported) }
      }
    }
    is(State.metadata) {
      when(answer) { learnMetadata(hasbits) }
    }
    is(State.fields) {
      when(answer) {
        answerTaken := true.B
        learn(((read - hasbits) >> 3)(SerializerList.partBits - 1, 0), word)
        when(beat.bits.fault) { fail(Status.accessFault) }
      }
      when(fetch.entry.fire) { peeked := true.B }
      when(found.fire && found.bits.kind === FoundKind.message) {
        readAhead(found.bits.address, SerializerWalker.leastBytes.U)
        val next = list.entry.bits.field
        when(!held && list.entry.valid && FieldKind.isMessage(next.kind) && !next.repeated) {
          held := true.B
          peeked := false.B
          heldMessage := found.bits
          heldPosition := list.position
        }.elsewhen(!held) { enterField(found.bits, list.position) }
      }
      when(held && peeked && (fetch.idle || found.valid)) {
        held := false.B
        enterField(heldMessage, heldPosition)
      }
      when(found.fire && found.bits.kind === FoundKind.pointers) {
        at.tag := found.bits.entry.tag
        at.table := found.bits.entry.field.table
        at.array := found.bits.address + 8.U
        at.left := found.bits.count
        at.next.valid := false.B
        elementBytes := SerializerWalker.leastBytes.U
        val isLong = found.bits.count > pointersAhead.U
        val ahead = Mux(isLong, pointersAhead.U, found.bits.count(pointerBits - 1, 0))
        readAhead(found.bits.address + 8.U + ((found.bits.count - ahead) << 3), ahead << 3)
        isString := FieldKind.isStringLike(found.bits.entry.field.kind)
        state := State.array
      }
      when(leaves) {
        state := State.restore
        when(stack.empty) { fail(Status.ok) }
      }
      when(list.fault) { fail(Status.accessFault) }.elsewhen(fetch.failure.valid) { fail(fetch.failure.bits) }
    }
    is(State.array) {
      // The next group is asked for when two are left.
      when(asked && at.left > (2 * group).U && at.left(log2Ceil(group) - 1, 0) === 0.U) {
        val from = Mux(at.left > pointersAhead.U, at.left - pointersAhead.U, 0.U)
        readAhead(at.array + (from << 3), (8 * group).U)
      }
      when(at.left === 0.U) { state := State.fields }
        .elsewhen(entersLast) {
          around.left := 0.U
          enter(at.next.bits, at.table)
        }
      when(answer) {
        when(beat.bits.fault || pointerIsWild) { fail(Status.accessFault) }
          .elsewhen(isString) {
            when(operation.ready && taskReady) {
              answerTaken := true.B
              at.left := at.left - 1.U
            }
          }
          .otherwise {
            answerTaken := true.B
            readAhead(pointer, elementBytes)
            when(at.next.valid) {
              around.left := at.left - 1.U
              around.next.bits := pointer
              enter(at.next.bits, at.table)
            }.otherwise {
              at.next.valid := true.B
              at.next.bits := pointer
            }
          }
      }
    }
    is(State.restore) {
      at := stack.popped.bits
      list.start.valid := true.B
      list.start.bits := stack.popped.bits.position
      forgetPresence()
      isString := false.B
      elementBytes := at.size
      state := State.close
    }
    is(State.close) {
      when(operation.ready) { state := Mux(at.left === 0.U, State.fields, State.array) }
    }
    is(State.finish) {
      reading := false.B
      held := false.B
      when(operation.ready) {
        state := State.idle
        begin()
      }
    }
  }
  when(flush) { latestTable.valid := false.B }
  private val isOpen = !on(State.idle) && !on(State.finish)
  when(isOpen && givenUp.valid && givenUp.bits === number) { fail(Status.ok) }
}

/** The states of a [[SerializerWalker]]. */
object SerializerWalker {

  /** Bits of the bytes of a message that are read ahead. */
  val sizeBits: Int = 11

  /** Bytes that every message has: its virtual table and its metadata word. */
  val leastBytes: Int = 16

  /** `enter`, `header` and `metadata` begin a message, `restore` and `close` end a sub-message; `fields` and `array`
    * are the walk itself; `finish` ends a request.
    */
  object State extends ChiselEnum {
    val idle, enter, header, metadata, fields, array, restore, close, finish = Value
  }
}
