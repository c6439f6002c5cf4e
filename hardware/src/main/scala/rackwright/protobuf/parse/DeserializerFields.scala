package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLines, DescriptorRequest, DescriptorTable, WireType}
import rackwright.stream.ByteStream

/** The start of a top-level message. */
class FieldsStart extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val target = UInt(DescriptorTable.addressBits.W)

  /** Address of its input. */
  val source = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
}

/** The end of a message: its status, and the offset up to which the input was valid. */
class FieldsEnd extends Bundle {
  val status = UInt(Status.width.W)
  val offset = UInt(32.W)
}

/** Parses messages: connects the scanner of tags and values with the blocks that execute fields.
  *
  * Scalars are pipelined: one is scanned while the entry of the previous one is looked up and the one before that is
  * stored. The scanner waits while a block executes a length-delimited field.
  *
  * The scanner continues with the message of the next request while the last fields of the current one are stored, if
  * these end the message whatever their types are. The other blocks follow when the current message has ended. If it
  * fails, its remaining fields are discarded.
  */
class DeserializerFields(params: DeserializerParams) extends Module {
  import DeserializerSequencer.State

  /** Start a message; the scanner has begun it already. */
  val start = IO(Flipped(Valid(new FieldsStart)))
  val follow = IO(Input(Bool()))

  /** `start` holds the next message, which the scanner may begin early; it does so. */
  val isKnown = IO(Input(Bool()))
  val mayGoAhead = IO(Output(Bool()))
  val goesAhead = IO(Input(Bool()))
  val ended = IO(Valid(new FieldsEnd))

  /** The message ends without an error, which is known one cycle before its end. */
  val succeeds = IO(Output(Bool()))
  val arena = IO(Input(UInt(64.W)))

  /** Invalidate cached descriptors. */
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

  /** The string object that was allocated last is not used. */
  val undo = IO(Output(Bool()))
  val arrays = IO(new Allocation)
  val texts = IO(new Allocation)
  val trim = IO(new Trim)
  val arraysHead = IO(Input(UInt(DescriptorTable.addressBits.W)))

  /** Where leftover records are stored; the address of the next one. */
  val leftoverBounds = IO(Flipped(Valid(new LeftoverBounds)))
  val leftoverHead = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** A store waits in front of `store`. */
  val storing = IO(Output(Bool()))

  /** Values are executed; the scanner waits for input, or a field for its store. */
  val events = IO(Output(new FieldsEvents))

  private val sequencer = Module(new DeserializerSequencer)
  private val levels = Module(new DeserializerLevels(params.depth))
  private val input = Module(new DeserializerHead(params.portBytes))
  private val scanner = Module(new DeserializerScanner(params))
  private val resolver = Module(new DeserializerResolver)
  private val values = Module(new DeserializerValues(params))
  private val oneofs = Module(new DeserializerOneofs(params))
  private val groups = Module(new DeserializerGroups)
  private val leftovers = Module(new DeserializerLeftovers(params))
  private val revisits = Module(new DeserializerRevisits)
  private val hasbits = Module(new DeserializerHasbits(params))
  private val repeated = Module(new DeserializerRepeated(params))
  private val text = Module(new DeserializerStrings(params))
  private val messages = Module(new DeserializerMessages(params))

  private def isState(which: State.Type): Bool = sequencer.state === which
  private val inFields = isState(State.fields)
  private val inMessages = isState(State.opening) || isState(State.creating)
  private val settles = isState(State.settling)
  private val isAhead = scanner.ahead.valid
  private val turn = RegInit(false.B)
  when(follow) { turn := !turn }
  private val begins = start.valid || follow

  private val (orders, level, outcome, entry) = (sequencer.orders, levels.level, values.outcome, values.entry)
  private val (scanned, decided) = (values.scanned, values.decided)
  private val takesField = outcome.taken && outcome.isField
  private val takesString = outcome.taken && outcome.isString

  stream <> input.stream
  input.consume.bytes := scanner.consume
  input.consume.quick := scanner.quick
  input.consume.last := text.consume
  scanner.head := input.head
  scanner.left := level.left
  scanner.position := levels.position
  private val scannedKind = Mux(isAhead, messages.found, level.kind)
  scanner.texts := Mux(groups.open, 0.U, scannedKind.texts)
  scanner.begin.valid := goesAhead
  scanner.begin.bits := start.bits.length
  scanner.start := start.valid
  scanner.follow := follow
  scanner.resume.valid := orders.resume || orders.resumeRun
  scanner.resume.bits.inRun := orders.resumeRun
  scanner.resume.bits.wire := FieldValue.wireOf(entry.kind)
  scanner.resume.bits.length := scanned.value
  scanner.clear := settles && !isAhead
  text.head := input.head
  text.upcoming := scanned.value

  resolver.field <> scanner.field
  resolver.scannedKind := scannedKind
  resolver.kind := level.kind
  resolver.turn := turn
  resolver.aheadKind := messages.found
  resolver.clear := settles && !isAhead
  resolver.anew := orders.enter || orders.pop || goesAhead
  resolver.inGroup := groups.open
  resolver.flush := flush

  private val isOfNow = resolver.resolved.bits.field.turn === turn
  values.field.valid := resolver.resolved.valid && isOfNow
  values.field.bits := resolver.resolved.bits
  resolver.resolved.ready := isOfNow && (values.field.ready || settles)
  values.left := level.left
  values.enabled := inFields
  values.clear := settles
  values.needs.hasbitCovered := hasbits.covered
  values.needs.opened := repeated.matches
  values.needs.room := repeated.room
  values.needs.withHeader := repeated.withHeader
  values.needs.oneofFree := !oneofs.busy
  values.needs.leftoverFree := !leftovers.busy
  values.needs.leftoverFits := leftovers.fits
  values.needs.groupFits := groups.fits
  values.needs.groupEnds := groups.open && groups.number === scanned.number
  values.needs.seen := levels.seen
  values.needs.textFree := text.free
  values.target := level.target
  values.element := repeated.element
  values.arena := arena
  strings <> values.strings

  // Lines of tables are requested for fields, or for messages that begin.
  lookup.valid := Mux(inMessages, messages.lookup.valid, resolver.lookup.valid)
  lookup.bits := Mux(inMessages, messages.lookup.bits, resolver.lookup.bits)
  messages.lookup.ready := lookup.ready && inMessages
  resolver.lookup.ready := lookup.ready && !inMessages
  messages.line.valid := line.valid && inMessages
  messages.line.bits := line.bits
  resolver.line.valid := line.valid && !inMessages
  resolver.line.bits := line.bits.first
  line.ready := Mux(inMessages, messages.line.ready, resolver.line.ready)

  private val textDone = RegNext(text.done, 0.U.asTypeOf(text.done))
  // The other blocks end when their stores have left.
  private def stage(from: DecoupledIO[Store], done: Valid[UInt]): StoreStage = {
    val stage = Module(new StoreStage(params.port))
    stage.store <> from
    stage.done := done
    stage
  }
  private val hasbitsStage = stage(hasbits.store, hasbits.done)
  private val repeatedStage = stage(repeated.store, repeated.done)
  private val messagesStage = stage(messages.store, messages.done)
  private val stages = Seq(hasbitsStage, repeatedStage, messagesStage)
  private val messageDone = messagesStage.over
  private val madeMessage = isState(State.creating) && messageDone.valid && messageDone.bits === Status.ok
  storing := !stages.map(_.quiet).reduce(_ && _)
  sequencer.start := start.valid
  sequencer.follow := follow
  sequencer.position := levels.position
  sequencer.tagStart := scanned.start
  sequencer.value := outcome
  sequencer.repeated := entry.repeated
  sequencer.seen := decided.seen
  sequencer.textLeaves.valid := text.leaves.valid
  sequencer.textLeaves.bits := level.left === text.leaves.bits
  sequencer.inGroup := groups.openNext
  sequencer.full := levels.full
  sequencer.outermost := levels.outermost
  sequencer.repeatedOpened := repeated.opened
  sequencer.hasbitsDone := hasbitsStage.over
  sequencer.repeatedDone := repeatedStage.over
  sequencer.textDone := textDone
  sequencer.messagesDone := messagesStage.over
  sequencer.found := revisits.found
  sequencer.settled := text.free && !oneofs.busy && !leftovers.busy
  // Once true, it remains true until the end.
  sequencer.drained := RegNext(settles && Mux(isAhead, resolver.resolved.valid && !isOfNow, lookupIdle), false.B)
  ended := sequencer.ended
  succeeds := sequencer.succeeds

  levels.start.valid := begins
  levels.start.bits.left := Mux(isAhead, scanner.ahead.bits.left, start.bits.length)
  levels.start.bits.position := Mux(isAhead, scanner.ahead.bits.position, 0.U)
  levels.enter.valid := orders.enter
  levels.enter.bits.kind := messages.found
  levels.enter.bits.target := messages.address
  levels.enter.bits.within := madeMessage
  levels.enter.bits.length := decided.value
  levels.enter.bits.merges := orders.merges
  levels.pop := orders.pop
  levels.consumed := Mux(isAhead, 0.U, input.consume.count)
  levels.offset := entry.offset
  levels.marks := takesField && (outcome.isElement || outcome.isMessage)

  // A message stays current for longer than this addition takes.
  hasbits.base := RegNext(level.target + level.kind.hasbitsOffset)
  hasbits.untouched := levels.outermost
  hasbits.bytes := level.kind.hasbitsBytes
  hasbits.index := entry.hasbit
  hasbits.set.valid := takesField && outcome.hasbit.valid
  hasbits.set.bits := outcome.hasbit.bits
  hasbits.move := orders.moveHasbits
  hasbits.flush := orders.flushHasbits
  hasbits.clear := begins
  hasbits.push := madeMessage
  hasbits.pop := orders.pop
  hasbits.enter.valid := orders.enter
  hasbits.enter.bits := orders.merges

  repeated.entry := entry
  repeated.base := level.target
  repeated.arena := arena
  repeated.seen := decided.seen
  repeated.open := orders.openRepeated
  repeated.grow := orders.growRepeated
  repeated.close := orders.closeRepeated
  repeated.clear := begins
  repeated.push := madeMessage
  repeated.pop := orders.pop
  repeated.enter := orders.enter
  repeated.append := (outcome.isElement && values.store.fire) || (entry.repeated && madeMessage)
  repeated.arraysHead := arraysHead
  trim <> repeated.trim

  // No field of the current message leads into another message when the scanner begins the next one early.
  private val isOutermost = isState(State.idle) || scanner.exhausted
  messages.start.valid := orders.beginMessage || goesAhead
  messages.start.bits.table := Mux(isOutermost, start.bits.table, entry.table)
  messages.start.bits.create := orders.createObject
  messages.start.bits.parent := decided.place
  messages.start.bits.existing := Mux(isOutermost, start.bits.target, revisits.found.bits.address)
  private val isReading = Seq(State.fields, State.moving, State.making, State.closing, State.flushing).map(isState)
  private val isKept = RegNext(isKnown && messages.isKept && !begins && !goesAhead, false.B)
  mayGoAhead := scanner.exhausted && !isAhead && levels.outermost && !groups.open && isKept && isReading.reduce(_ || _)
  messages.arena := arena
  messages.flush := flush
  objects <> messages.objects

  private val skips = RegEnable(outcome.isSkipped, outcome.taken)
  text.start.valid := takesString || (outcome.taken && (outcome.isSkipped || outcome.isText))
  text.start.bits.skip := outcome.isSkipped
  text.start.bits.address := decided.string
  text.start.bits.length := decided.value
  text.start.bits.utf8 := entry.utf8 && outcome.isString
  text.start.bits.hasText := outcome.isText
  text.start.bits.text := scanned.text
  undo := textDone.valid && textDone.bits =/= Status.ok && !skips

  // A leftover is recorded as a whole: a group when it ends.
  private val request = RegEnable(start.bits, begins)
  private val takesGroup = outcome.taken && outcome.isGroup
  private val isBegin = scanned.wire === WireType.startGroup.U
  private val delimited = Mux(outcome.isSkipped || scanned.hasText, scanned.value(31, 0), 0.U)
  private val from = Mux(groups.open, groups.start, values.position)
  groups.taken.valid := takesGroup
  groups.taken.bits.begins := isBegin
  groups.taken.bits.number := scanned.number
  groups.taken.bits.start := values.position
  groups.clear := begins
  leftovers.set := leftoverBounds
  leftoverHead := leftovers.head
  leftovers.add.valid := outcome.taken && outcome.isLeftOver && !groups.openNext
  leftovers.add.bits.target := level.target
  leftovers.add.bits.root := request.target
  leftovers.add.bits.address := request.source + from
  leftovers.add.bits.length := values.position + scanned.bytes + delimited - from
  leftovers.add.bits.number := Mux(scanned.inRun, scanned.number, 0.U)

  // The previous case is still needed if a message may be merged into the existing one.
  oneofs.set.valid := (outcome.inOneof && takesField && !outcome.isMessage) ||
    (entry.inOneof && orders.beginMessage && !start.valid)
  oneofs.set.bits.address := decided.casePlace
  oneofs.set.bits.number := scanned.number
  revisits.start := orders.revisit
  revisits.asked.pointer := decided.place
  revisits.asked.inOneof := entry.inOneof
  revisits.asked.oneof := oneofs.set.bits

  // At most one of them reads back at a time.
  private val readers = Seq(hasbits.readBack, revisits.readBack, repeated.readBack)
  readBack.valid := readers.map(_.valid).reduce(_ || _)
  readBack.bits := PriorityMux(readers.map(reader => reader.valid -> reader.bits))
  hasbits.readBackResponse := readBackResponse
  revisits.readBackResponse := readBackResponse
  repeated.readBackResponse := readBackResponse

  arrays <> repeated.array
  texts <> text.bytes

  private val sources = Seq(oneofs.store, leftovers.store, values.store) ++ stages.map(_.leaves)
  private val arbiter = Module(new Arbiter(new Store(params.port), sources.length))
  arbiter.io.in.zip(sources).foreach { case (input, source) => input <> source }
  store <> arbiter.io.out
  beat <> text.beat

  events.values := outcome.taken && !outcome.endsMessage && !outcome.endsRun
  events.inputStall := scanner.stalled
  events.storeStall := (store.valid && !store.ready) || (beat.valid && !beat.ready)
}

/** Events of a [[DeserializerFields]] in one cycle. */
class FieldsEvents extends Bundle {
  val values = UInt(1.W)
  val inputStall = Bool()
  val storeStall = Bool()
}
