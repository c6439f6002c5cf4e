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

/** Reads messages: has values and tags taken off the input, and wires the boxes that do the rest.
  *
  * A scalar takes one cycle: its value and the tag behind it leave the input together, and while the next cycle's value
  * is being aligned, the cache gives the entry of the field. So do a short string, or the last bytes of one, and the
  * tag behind.
  */
class DeserializerFields(params: DeserializerParams) extends Module {
  import DeserializerSequencer.State

  val start = IO(Flipped(Valid(new FieldsStart)))
  val ended = IO(Valid(new FieldsEnd))
  val arena = IO(Input(UInt(64.W)))

  /** Forget what is kept of message types. */
  val flush = IO(Input(Bool()))

  val stream = IO(Flipped(new ByteStream(params.portBytes)))
  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLines)))
  val lookupIdle = IO(Input(Bool()))
  val store = IO(Decoupled(new Store(params.port)))
  val beat = IO(Decoupled(new Beat(params.port)))
  val readBack = IO(Valid(new ReadBackRequest))
  val readBackResponse = IO(Flipped(Valid(new ReadBackResponse)))
  val objects = IO(new Allocation)
  val strings = IO(new Allocation)

  /** The string object taken last is not made. */
  val undo = IO(Output(Bool()))
  val arrays = IO(new Allocation)
  val texts = IO(new Allocation)
  val trim = IO(new Trim)
  val arraysHead = IO(Input(UInt(DescriptorTable.addressBits.W)))

  /** Values that are taken; input, or a place for a store, is waited for. */
  val events = IO(Output(new FieldsEvents))

  private val sequencer = Module(new DeserializerSequencer)
  private val levels = Module(new DeserializerLevels(params.depth))
  private val tags = Module(new DeserializerTags(params))
  private val values = Module(new DeserializerValues(params))
  private val oneofs = Module(new DeserializerOneofs(params))
  private val revisits = Module(new DeserializerRevisits)
  private val hasbits = Module(new DeserializerHasbits(params))
  private val repeated = Module(new DeserializerRepeated(params))
  private val text = Module(new DeserializerStrings(params))
  private val messages = Module(new DeserializerMessages(params))

  private def isState(which: State.Type): Bool = sequencer.state === which
  private val inFields = isState(State.fields)
  private val inPacked = isState(State.packed)
  private val inMessages = isState(State.opening) || isState(State.creating)

  private val (orders, level, outcome, entry) = (sequencer.orders, levels.level, values.outcome, values.entry)
  private val takesField = outcome.taken && inFields
  private val takesScalar = takesField && !outcome.isString && !outcome.isMessage && !outcome.isRun
  private val takesString = takesField && outcome.isString
  private val madeMessage = orders.enter && isState(State.creating)
  private val target = level.target + entry.offset

  // Bytes of values and strings that leave in this cycle; what tag there is lies behind them.
  private val leaving = values.consumed + text.stream.consume
  private val pending = RegInit(false.B)
  when(inFields || text.leaves) { pending := tags.taken || (pending && !takesField) }
  when(start.valid) { pending := false.B }
  private val head = InputHead.of(stream, Mux(inPacked, values.length, level.left), params.portBytes)
  tags.head := head
  tags.clear := start.valid
  tags.wanted := takesScalar || text.leaves || (inFields && !pending)
  tags.behind := leaving
  tags.position := levels.position
  tags.kind := level.kind

  values.head := head
  values.left := level.left
  values.pending := pending
  values.inFields := inFields
  values.inPacked := inPacked
  values.wire := tags.wire
  values.line.valid := line.valid
  values.line.bits := line.bits.first
  values.needs.hasbitCovered := hasbits.covered
  values.needs.opened := repeated.matches
  values.needs.room := repeated.room
  values.needs.roomForTwo := repeated.roomForTwo
  values.needs.withHeader := repeated.withHeader
  values.needs.oneofFree := !oneofs.busy
  values.place := Mux(entry.repeated, repeated.element, target)
  values.arena := arena
  strings <> values.strings

  stream.consume := leaving + Mux(tags.taken, tags.length, 0.U)

  // A string may leave with its length if that is one byte.
  private val isShort = values.value.length === 1.U
  text.stream.data := Mux(takesString, VecInit(stream.data.tail :+ 0.U(8.W)), stream.data)
  text.stream.available := Mux(takesString, Mux(isShort, stream.available - 1.U, 0.U), stream.available)
  text.stream.last := stream.last
  text.stream.fault := stream.fault && !takesString

  // Lines of tables are for fields, or for messages that are begun.
  lookup.valid := Mux(inMessages, messages.lookup.valid, tags.lookup.valid)
  lookup.bits := Mux(inMessages, messages.lookup.bits, tags.lookup.bits)
  messages.lookup.ready := lookup.ready && inMessages
  tags.lookup.ready := lookup.ready && !inMessages
  messages.line.valid := line.valid && inMessages
  messages.line.bits := line.bits
  line.ready := Mux(inMessages, messages.line.ready, takesField) || isState(State.settling)

  sequencer.start := start.valid
  sequencer.position := levels.position
  sequencer.tagStart := tags.start
  sequencer.pending := pending
  sequencer.tagFailure := tags.failure
  sequencer.value := outcome
  sequencer.repeated := entry.repeated
  sequencer.seen := levels.seen
  sequencer.runEnds := values.length === leaving
  sequencer.messageEnds := level.left === leaving
  sequencer.full := levels.full
  sequencer.outermost := levels.outermost
  sequencer.repeatedOpened := repeated.opened
  sequencer.opensAtOnce := repeated.opensAtOnce
  sequencer.hasbitsDone := hasbits.done
  sequencer.repeatedDone := repeated.done
  sequencer.textDone := text.done
  sequencer.messagesDone := messages.done
  sequencer.found := revisits.found
  sequencer.settled := lookupIdle && !oneofs.busy
  ended := sequencer.ended

  levels.start.valid := start.valid
  levels.start.bits := start.bits.length
  levels.enter.valid := orders.enter
  levels.enter.bits.kind := messages.found
  levels.enter.bits.target := messages.address
  levels.enter.bits.within := madeMessage
  levels.enter.bits.length := values.length
  levels.enter.bits.merges := orders.merges
  levels.pop := orders.pop
  levels.consumed := stream.consume
  levels.offset := entry.offset
  levels.marks := takesField && (entry.repeated || outcome.isMessage)

  hasbits.base := level.target + level.kind.hasbitsOffset
  hasbits.untouched := levels.outermost
  hasbits.bytes := level.kind.hasbitsBytes
  hasbits.index := entry.hasbit
  hasbits.set := takesField && entry.hasHasbit
  hasbits.move := orders.moveHasbits
  hasbits.flush := orders.flushHasbits
  hasbits.clear := start.valid
  hasbits.push := madeMessage
  hasbits.pop := orders.pop
  hasbits.enter.valid := orders.enter
  hasbits.enter.bits := orders.merges

  repeated.entry := entry
  repeated.base := level.target
  repeated.arena := arena
  repeated.seen := levels.seen
  repeated.open := orders.openRepeated
  repeated.grow := orders.growRepeated
  repeated.close := orders.closeRepeated
  repeated.clear := start.valid
  repeated.push := madeMessage
  repeated.pop := orders.pop
  repeated.enter := orders.enter
  repeated.append := entry.repeated && (values.store.fire || madeMessage)
  repeated.appendTwo := outcome.pair
  repeated.arraysHead := arraysHead
  trim <> repeated.trim

  messages.start.valid := orders.beginMessage
  messages.start.bits.table := Mux(start.valid, start.bits.table, entry.table)
  messages.start.bits.create := orders.createObject
  messages.start.bits.parent := values.place
  messages.start.bits.existing := Mux(start.valid, start.bits.target, revisits.found.bits.address)
  messages.arena := arena
  messages.flush := flush
  objects <> messages.objects

  text.start.valid := takesString
  text.start.bits.address := strings.address
  text.start.bits.length := values.value.value
  text.start.bits.utf8 := entry.utf8
  undo := text.done.valid && text.done.bits =/= Status.ok

  // The former case is still wanted where a message may be merged into the one that is there.
  oneofs.set.valid := entry.inOneof && ((takesField && !outcome.isMessage) || (orders.beginMessage && !start.valid))
  oneofs.set.bits.address := level.target + entry.caseOffset
  oneofs.set.bits.number := tags.number
  revisits.start := orders.revisit
  revisits.asked.pointer := target
  revisits.asked.inOneof := entry.inOneof
  revisits.asked.oneof := oneofs.set.bits

  // One of them reads back at a time.
  private val readers = Seq(hasbits.readBack, revisits.readBack, repeated.readBack)
  readBack.valid := readers.map(_.valid).reduce(_ || _)
  readBack.bits := PriorityMux(readers.map(reader => reader.valid -> reader.bits))
  hasbits.readBackResponse := readBackResponse
  revisits.readBackResponse := readBackResponse
  repeated.readBackResponse := readBackResponse

  arrays <> repeated.array
  texts <> text.bytes

  private val sources =
    Seq(oneofs.store, values.store, hasbits.store, repeated.store, messages.store)
  private val arbiter = Module(new Arbiter(new Store(params.port), sources.length))
  arbiter.io.in.zip(sources).foreach { case (input, source) => input <> source }
  store <> arbiter.io.out
  beat <> text.beat

  events.values := outcome.taken +& outcome.pair
  events.inputStall := (inFields || inPacked) && !head.isWhole && stream.available === 0.U
  events.storeStall := (store.valid && !store.ready) || (beat.valid && !beat.ready)
}

/** What a [[DeserializerFields]] did in a cycle. */
class FieldsEvents extends Bundle {
  val values = UInt(2.W)
  val inputStall = Bool()
  val storeStall = Bool()
}
