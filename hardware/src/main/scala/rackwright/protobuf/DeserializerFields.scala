package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.ByteStream

/** A message to read: the outermost one of a request. */
class FieldsStart extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val target = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
}

/** How the reading of a message ended: the offset is where the input was right up to. */
class FieldsEnd extends Bundle {
  val status = UInt(Status.width.W)
  val offset = UInt(32.W)
}

/** Reads messages: takes tags and values off the input, stores scalars itself, has the other boxes do the rest.
  *
  * A scalar takes one cycle: its value and the tag behind it leave the input together, and while the next cycle's value
  * is being aligned, the cache gives the entry of the field.
  */
class DeserializerFields(params: DeserializerParams) extends Module {
  import DeserializerFields._

  val start = IO(Flipped(Valid(new FieldsStart)))
  val ended = IO(Valid(new FieldsEnd))
  val arena = IO(Input(UInt(64.W)))

  /** Forget what is kept of message types. */
  val flush = IO(Input(Bool()))

  val stream = IO(Flipped(new ByteStream(params.portBytes)))
  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))
  val lookupIdle = IO(Input(Bool()))
  val store = IO(Decoupled(new Store(params.port)))
  val readBack = IO(Valid(new ReadBackRequest))
  val readBackResponse = IO(Flipped(Valid(new ReadBackResponse)))
  val objects = IO(new Allocation)
  val strings = IO(new Allocation)

  /** The string object taken last is not made. */
  val undo = IO(Output(Bool()))
  val arrays = IO(new Allocation)

  /** What is taken of the arrays' region is for a string. */
  val longString = IO(Output(Bool()))
  val trim = IO(new Trim)
  val arraysHead = IO(Input(UInt(DescriptorTable.addressBits.W)))

  /** A field's value is taken; input, or a place for a store, is waited for. */
  val events = IO(Output(new FieldsEvents))

  private val hasbits = Module(new DeserializerHasbits(params))
  private val repeated = Module(new DeserializerRepeated(params))
  private val text = Module(new DeserializerStrings(params))
  private val messages = Module(new DeserializerMessages(params))
  private val stack = Module(new LevelStack(new Level, params.depth - 1))

  private val state = RegInit(State.idle)
  private val level = Reg(new Level)
  private val consumed = Reg(UInt(32.W))
  private val tagAt = Reg(UInt(32.W))
  private val number = Reg(UInt(29.W))
  private val wire = Reg(UInt(3.W))
  private val pending = RegInit(false.B)
  private val field = Reg(new DescriptorEntry)
  private val length = Reg(UInt(32.W))
  private val status = Reg(UInt(Status.width.W))
  private val endAt = Reg(UInt(32.W))

  private def isState(which: State.Type): Bool = state === which
  private val inFields = isState(State.fields)
  private val inPacked = isState(State.packed)

  // What of the message, or of the run of packed elements in it, is at the head of the input.
  private val runLeft = Mux(inPacked, length, level.left)
  private val isWhole = runLeft <= stream.available
  private val available = Mux(isWhole, runLeft(stream.available.getWidth - 1, 0), stream.available)
  private val unreadable = stream.fault && !isWhole
  private val data = stream.data.asUInt

  // The value of the field whose tag has been taken.
  private val answered = inFields && pending && line.valid
  private val entry = Mux(pending, DescriptorTable.entry(line.bits.data), field)
  private val value = FieldValue.decode(data, available, Mux(inPacked, FieldValue.wireOf(field.kind), wire), entry)
  private val known = answered && !line.bits.fault

  private val stringLike = FieldKind.isStringLike(entry.kind)
  private val submessage = FieldKind.isMessage(entry.kind)
  private val delimited = wire === WireType.lengthDelimited.U
  private val plain = wire === FieldValue.wireOf(entry.kind)
  private val packedRun = entry.repeated && delimited && !stringLike && !submessage
  private val unsupported = entry.kind === 0.U || entry.kind === FieldKind.group.U || entry.unsupported ||
    entry.isMap || !(plain || packedRun)

  private val seenBit = number(5, 0) - level.kind.least(5, 0)
  private val seen = level.seen(seenBit)
  private val target = level.target + entry.offset
  private val place = Mux(entry.repeated, repeated.element, target)

  private val caseStore = RegInit(0.U.asTypeOf(Valid(new CaseStore)))

  // Everything that has to be so before the value can be taken.
  private val needsMove = entry.hasHasbit && !hasbits.covered
  private val isEmptyRun = packedRun && value.complete && value.value === 0.U
  private val needsOpen = entry.repeated && !repeated.matches && !isEmptyRun
  private val needsRoom = entry.repeated && !packedRun && !repeated.room
  private val ready =
    known && !unsupported && !needsMove && !needsOpen && !needsRoom && !(entry.inOneof && caseStore.valid)

  private val takesScalar = ready && !delimited && value.complete && !value.outsideEnum
  private val isOverrun = delimited && value.value > (level.left - value.length)
  private val takesLength = ready && delimited && value.complete && !value.wrong && !isOverrun
  private val takesString = takesLength && stringLike
  private val takesElement = inPacked && length =/= 0.U && value.complete && !value.outsideEnum && repeated.room

  // Values, pointers to strings, and elements of packed runs are stored from here.
  private val own = Wire(Decoupled(new Store(params.port)))
  private val pointer = strings.address | Mux(entry.repeated, 0.U, stringTag.U)
  own.valid := takesScalar || (takesString && strings.fits) || takesElement
  private val element = Store.value(
    params.port,
    place,
    Mux(takesString, pointer, value.value),
    FieldKind.log2Bytes(entry.kind)
  )
  own.bits := element
  when(entry.repeated && repeated.withHeader && !stringLike) {
    // The arena lies before the first element, in the same beat.
    own.bits.data := Cat(
      Fill(params.portBytes / 8 - 1, element.data(63, 0)),
      arena
    )
    own.bits.mask := element.mask | 0xff.U
  }
  private val scalarFires = takesScalar && own.ready
  private val stringFires = takesString && strings.fits && own.ready
  private val elementFires = takesElement && own.ready
  private val lengthFires = takesLength && (!stringLike || (strings.fits && own.ready))
  private val fieldFires = scalarFires || lengthFires

  strings.bytes := DeserializerStrings.objectBytes.U
  strings.take := stringFires
  undo := text.done.valid && text.done.bits =/= Status.ok
  longString := text.array.take

  // The next tag: at the head of the input, or behind a scalar that leaves in this cycle.
  private val skip = Mux(scalarFires || elementFires, value.length, 0.U)
  private val wantsTag = scalarFires || (inFields && !pending)
  private val key =
    FieldKey.decode((data >> Cat(value.length & Fill(4, scalarFires), 0.U(3.W)))(39, 0), available - skip)
  private val index = key.number - level.kind.least
  private val inTable = key.number >= level.kind.least && index <= level.kind.span
  private val isGood = key.complete && !key.wrong && key.wire =/= WireType.startGroup.U && inTable
  private val fieldLookup = Wire(Decoupled(new DescriptorRequest))
  private val takesKey = wantsTag && isGood && fieldLookup.ready
  fieldLookup.valid := wantsTag && isGood
  fieldLookup.bits.address := level.kind.table + (DescriptorTable.headerLines.U +& index << 4)
  fieldLookup.bits.last := level.kind.table + (DescriptorTable.headerLines.U +& level.kind.span << 4)

  private val settling = isState(State.settling)
  private val busyMessages = isState(State.opening) || isState(State.creating)
  lookup.valid := Mux(busyMessages, messages.lookup.valid, fieldLookup.valid)
  lookup.bits := Mux(busyMessages, messages.lookup.bits, fieldLookup.bits)
  messages.lookup.ready := lookup.ready && busyMessages
  fieldLookup.ready := lookup.ready && !busyMessages
  messages.line.valid := line.valid && busyMessages
  messages.line.bits := line.bits
  line.ready := Mux(busyMessages, messages.line.ready, fieldFires) || settling

  private val taken = Mux(fieldFires, value.length, skip) + Mux(takesKey, key.length, 0.U)
  private val inText = isState(State.text)
  stream.consume := Mux(inText, text.stream.consume, taken)
  text.stream.data := stream.data
  text.stream.available := stream.available
  text.stream.last := stream.last
  text.stream.fault := stream.fault

  private val seenAfter = level.seen | Mux(fieldFires, UIntToOH(seenBit, 64), 0.U)
  consumed := consumed + stream.consume
  level.left := level.left - stream.consume
  level.seen := seenAfter
  when(inPacked) { length := length - stream.consume }
  when(takesKey) {
    tagAt := consumed + skip
    number := key.number
    wire := key.wire
  }
  when(inFields) { pending := takesKey || (pending && !fieldFires) }
  when(fieldFires) {
    field := entry
    length := value.value
  }
  caseStore.valid := false.B
  // The former case is still wanted where a message may be merged into the one that is there.
  private val setsCase = (fieldFires && !submessage) || messages.start.valid
  when(setsCase && entry.inOneof && state =/= State.idle) {
    caseStore.valid := true.B
    caseStore.bits.address := level.target + entry.caseOffset
    caseStore.bits.number := number
  }

  // Hasbits.
  hasbits.base := level.target + level.kind.hasbitsOffset
  hasbits.untouched := stack.empty
  hasbits.bytes := level.kind.hasbitsBytes
  hasbits.index := entry.hasbit
  hasbits.set := fieldFires && entry.hasHasbit
  hasbits.move := false.B
  hasbits.flush := false.B
  hasbits.clear := start.valid

  // Repeated fields.
  repeated.entry := entry
  repeated.base := level.target
  repeated.seen := seen
  repeated.open := false.B
  repeated.grow := false.B
  repeated.close := false.B
  repeated.clear := start.valid
  repeated.arraysHead := arraysHead
  trim <> repeated.trim

  // Messages. One that can't be there yet is begun as soon as its length is known.
  private val current = Mux(inFields, entry, field)
  private val beginsMessage = lengthFires && submessage && (entry.repeated || !seen) && !stack.full
  private val createdMessage = isState(State.creating) && messages.done.valid && messages.done.bits === Status.ok
  repeated.append := (scalarFires && entry.repeated) || (stringFires && entry.repeated) || elementFires ||
    (createdMessage && field.repeated)
  messages.start.valid := false.B
  messages.start.bits.table := Mux(isState(State.idle), start.bits.table, current.table)
  messages.start.bits.create := true.B
  messages.start.bits.parent := place
  messages.start.bits.existing := Mux(isState(State.idle), start.bits.target, readBackResponse.bits.word(0))
  messages.arena := arena
  messages.flush := flush

  text.start.valid := stringFires
  text.start.bits.address := strings.address
  text.start.bits.length := value.value
  text.start.bits.utf8 := entry.utf8

  // Levels.
  private val entersMessage = createdMessage
  private val entersTop = isState(State.opening) && messages.done.valid && messages.done.bits === Status.ok
  private val merges = RegInit(false.B)
  stack.clear := start.valid
  stack.pop := false.B
  stack.push.valid := entersMessage
  stack.push.bits := level
  stack.push.bits.left := level.left - length
  hasbits.push := entersMessage
  repeated.push := entersMessage
  hasbits.pop := stack.pop
  repeated.pop := stack.pop
  hasbits.enter.valid := entersMessage || entersTop
  hasbits.enter.bits := merges
  repeated.enter := hasbits.enter.valid
  when(entersMessage || entersTop) {
    level.kind := messages.found
    level.target := messages.address
    level.seen := Fill(64, merges)
    level.left := Mux(entersTop, level.left, length)
  }
  when(stack.popped.valid) { level := stack.popped.bits }

  // Reading back a message's pointer, and the case of its oneof.
  private val revisiting = isState(State.revisiting)
  private val recasing = isState(State.recasing)
  readBack.valid := revisiting || recasing || hasbits.readBack.valid || repeated.readBack.valid
  readBack.bits := Mux(hasbits.readBack.valid, hasbits.readBack.bits, repeated.readBack.bits)
  when(revisiting || recasing) {
    readBack.bits.address := Mux(recasing, level.target + field.caseOffset, target)
    readBack.bits.bytes := Mux(recasing, 4.U, 8.U)
    readBack.bits.settled := false.B
  }
  hasbits.readBackResponse := readBackResponse
  repeated.readBackResponse := readBackResponse

  objects <> messages.objects
  arrays.bytes := Mux(inText, text.array.bytes, repeated.array.bytes)
  arrays.take := text.array.take || repeated.array.take
  text.array.address := arrays.address
  text.array.fits := arrays.fits
  repeated.array.address := arrays.address
  repeated.array.fits := arrays.fits

  private val sources = Module(new Arbiter(new Store(params.port), 6))
  sources.io.in(0).valid := caseStore.valid
  sources.io.in(0).bits := Store.value(params.port, caseStore.bits.address, caseStore.bits.number, 2.U)
  when(caseStore.valid && !sources.io.in(0).ready) { caseStore.valid := true.B }
  sources.io.in(1) <> own
  sources.io.in(2) <> hasbits.store
  sources.io.in(3) <> repeated.store
  sources.io.in(4) <> text.store
  sources.io.in(5) <> messages.store
  store <> sources.io.out

  private def finish(why: UInt, at: UInt = tagAt): Unit = {
    state := State.settling
    status := why
    endAt := at
    pending := false.B
  }

  /** Ends a message: what is on chip of it is stored. */
  private def close(): Unit = {
    repeated.close := repeated.opened
    hasbits.flush := !repeated.opened
    state := Mux(repeated.opened, State.closing, State.flushing)
  }

  /** Goes on when a box is done. */
  private def after(done: Valid[UInt], next: State.Type): Unit =
    when(done.valid) { when(done.bits === Status.ok) { state := next }.otherwise(finish(done.bits)) }

  when(start.valid) {
    consumed := 0.U
    tagAt := 0.U
    level.left := start.bits.length
    pending := false.B
    caseStore.valid := false.B
    merges := false.B
    messages.start.valid := true.B
    messages.start.bits.create := false.B
    state := State.opening
  }
  when(isState(State.opening))(after(messages.done, State.fields))

  when(inFields && !pending) {
    when(level.left === 0.U)(close()).elsewhen(!takesKey) {
      when(key.complete) {
        when(key.wrong)(finish(Status.malformed, consumed)).elsewhen(!isGood)(finish(Status.unsupported, consumed))
      }.elsewhen(key.endless || isWhole)(finish(Status.malformed, consumed)).elsewhen(unreadable)(
        finish(Status.accessFault, consumed)
      )
    }
  }
  when(scalarFires && level.left === value.length)(close())
  when(answered && line.bits.fault)(finish(Status.accessFault))
  when(known && !fieldFires) {
    when(unsupported)(finish(Status.unsupported)).elsewhen(needsMove) {
      hasbits.move := true.B
      state := State.moving
    }.elsewhen(needsOpen || needsRoom) {
      repeated.open := needsOpen
      repeated.grow := !needsOpen
      when(!needsOpen || !repeated.opensAtOnce) { state := State.making }
    }.elsewhen(value.wrong || (!value.complete && isWhole) || (value.complete && isOverrun))(finish(Status.malformed))
      .elsewhen(!value.complete && unreadable)(finish(Status.accessFault))
      .elsewhen(value.complete && value.outsideEnum && !delimited)(finish(Status.unsupported))
      .elsewhen(takesString && !strings.fits)(finish(Status.outputFull))
  }
  when(lengthFires) {
    state := Mux(stringLike, State.text, Mux(submessage, State.revisiting, State.packed))
    when(submessage && stack.full)(finish(Status.unsupported)).elsewhen(beginsMessage) {
      messages.start.valid := true.B
      merges := false.B
      state := State.creating
    }.elsewhen(submessage && entry.inOneof) { state := State.recasing }
  }
  when(isState(State.moving))(after(hasbits.done, State.fields))
  when(isState(State.making))(after(repeated.done, Mux(pending, State.fields, State.packed)))
  when(inText) {
    after(text.done, State.fields)
    when(text.done.valid && text.done.bits === Status.ok && level.left === text.stream.consume)(close())
  }

  when(inPacked) {
    when(length === 0.U) {
      state := State.fields
    }.elsewhen(!elementFires) {
      when(value.wrong || (!value.complete && isWhole))(finish(Status.malformed))
        .elsewhen(!value.complete) { when(unreadable)(finish(Status.accessFault)) }
        .elsewhen(value.outsideEnum)(finish(Status.unsupported))
        .elsewhen(!repeated.room) {
          repeated.grow := true.B
          state := State.making
        }
    }
  }

  when(recasing && readBackResponse.valid) {
    state := State.revisiting
    when(readBackResponse.bits.word(0)(31, 0) =/= number) {
      messages.start.valid := true.B
      merges := false.B
      state := State.creating
    }
    when(readBackResponse.bits.fault) {
      messages.start.valid := false.B
      finish(Status.accessFault)
    }
  }
  when(revisiting && readBackResponse.valid) {
    val exists = readBackResponse.bits.word(0) =/= 0.U
    messages.start.valid := true.B
    messages.start.bits.create := !exists
    merges := exists
    state := State.creating
    when(readBackResponse.bits.fault) {
      messages.start.valid := false.B
      finish(Status.accessFault)
    }
  }
  when(isState(State.creating))(after(messages.done, State.fields))

  when(isState(State.closing) && repeated.done.valid) {
    hasbits.flush := true.B
    state := State.flushing
  }
  when(isState(State.flushing) && hasbits.done.valid) {
    finish(hasbits.done.bits, consumed)
    when(hasbits.done.bits === Status.ok && !stack.empty) {
      stack.pop := true.B
      state := State.popping
    }
  }
  when(isState(State.popping)) { state := State.fields }

  // The good end needs no further cycle.
  private val endsWell = isState(State.flushing) && hasbits.done.valid && hasbits.done.bits === Status.ok && stack.empty
  ended.valid := (settling || endsWell) && lookupIdle && !caseStore.valid
  ended.bits.status := Mux(settling, status, Status.ok)
  ended.bits.offset := Mux(settling, endAt, consumed)
  when(ended.valid) { state := State.idle }

  events.values := fieldFires || elementFires
  events.inputStall := (inFields || inPacked) && !isWhole && stream.available === 0.U
  events.storeStall := store.valid && !store.ready
}

/** What a [[DeserializerFields]] did in a cycle. */
class FieldsEvents extends Bundle {
  val values = Bool()
  val inputStall = Bool()
  val storeStall = Bool()
}

/** Constants and state of [[DeserializerFields]]. */
object DeserializerFields {

  /** Low bits of the pointer of a singular string: it may be changed, and the arena owns it (arenastring.h). */
  val stringTag: Int = 3

  /** A message that is being read. */
  class Level extends Bundle {
    val kind = new MessageType

    /** Address of its object. */
    val target = UInt(DescriptorTable.addressBits.W)

    /** Bytes of it that are left in the input. */
    val left = UInt(32.W)

    /** Which fields, by the low bits of their place in the table, it may have had already. */
    val seen = UInt(64.W)
  }

  /** The case word of a oneof, to be stored. */
  class CaseStore extends Bundle {
    val address = UInt(DescriptorTable.addressBits.W)
    val number = UInt(29.W)
  }

  /** `fields` takes tags and values. Others wait for a box: `opening` and `creating` for messages, `revisiting` and
    * `recasing` for what an object holds already, `making` for a repeated field, `moving` and `flushing` for hasbits,
    * `closing` and `popping` at the end of a message. `settling` lets lookups end.
    */
  object State extends ChiselEnum {
    val idle, opening, fields, moving, making, text, packed, revisiting, recasing, creating, closing, flushing, popping,
        settling = Value
  }
}
