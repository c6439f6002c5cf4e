package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLines, DescriptorRequest, DescriptorTable, WireType}
import rackwright.stream.ByteStream

/** A message to read: the outermost one of a request. */
class FieldsStart extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val target = UInt(DescriptorTable.addressBits.W)

  /** Its input. */
  val source = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
}

/** How the reading of a message ended: the offset is where the input was right up to. */
class FieldsEnd extends Bundle {
  val status = UInt(Status.width.W)
  val offset = UInt(32.W)
}

/** Reads messages: has tags and values taken off the input, and wires the boxes that do the rest.
  *
  * Scalars flow: one is scanned while the entry of the one before is looked up and the one before that is stored. What
  * is length-delimited is taken by the box for it before the scanner goes on.
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

  /** Where records of what is left over go; where the next one does. */
  val leftoverBounds = IO(Flipped(Valid(new LeftoverBounds)))
  val leftoverHead = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** A store waits before `store`. */
  val storing = IO(Output(Bool()))

  /** Values that are taken; input, or a place for a store, is waited for. */
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

  private val (orders, level, outcome, entry) = (sequencer.orders, levels.level, values.outcome, values.entry)
  private val (scanned, decided) = (values.scanned, values.decided)
  private val takesField = outcome.taken && !scanned.inRun && !scanned.end && !outcome.isLeftOver
  private val takesString = outcome.taken && outcome.isString
  private val madeMessage = orders.enter && isState(State.creating)

  stream <> input.stream
  input.consume := scanner.consume | text.consume
  scanner.head := input.head
  scanner.left := level.left
  scanner.position := levels.position
  scanner.texts := Mux(groups.open, 0.U, level.kind.texts)
  scanner.resume.valid := orders.resume || orders.resumeRun
  scanner.resume.bits.inRun := orders.resumeRun
  scanner.resume.bits.wire := FieldValue.wireOf(entry.kind)
  scanner.resume.bits.length := scanned.value
  scanner.clear := settles
  text.head := input.head
  text.upcoming := scanned.value

  resolver.field <> scanner.field
  resolver.kind := level.kind
  resolver.clear := settles
  resolver.anew := orders.enter || orders.pop
  resolver.inGroup := groups.open
  resolver.flush := flush

  values.field <> resolver.resolved
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

  // Lines of tables are for fields, or for messages that are begun.
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
  // Others are done when their stores have left.
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
  storing := !stages.map(_.quiet).reduce(_ && _)
  sequencer.start := start.valid
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
  sequencer.settled := text.free && lookupIdle && !oneofs.busy && !leftovers.busy
  ended := sequencer.ended

  levels.start.valid := start.valid
  levels.start.bits := start.bits.length
  levels.enter.valid := orders.enter
  levels.enter.bits.kind := messages.found
  levels.enter.bits.target := messages.address
  levels.enter.bits.within := madeMessage
  levels.enter.bits.length := decided.value
  levels.enter.bits.merges := orders.merges
  levels.pop := orders.pop
  levels.consumed := input.consume
  levels.offset := entry.offset
  levels.marks := takesField && (entry.repeated || outcome.isMessage)

  // A level stays for longer than it takes to add.
  hasbits.base := RegNext(level.target + level.kind.hasbitsOffset)
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
  repeated.seen := decided.seen
  repeated.open := orders.openRepeated
  repeated.grow := orders.growRepeated
  repeated.close := orders.closeRepeated
  repeated.clear := start.valid
  repeated.push := madeMessage
  repeated.pop := orders.pop
  repeated.enter := orders.enter
  repeated.append := entry.repeated && (values.store.fire || madeMessage)
  repeated.arraysHead := arraysHead
  trim <> repeated.trim

  messages.start.valid := orders.beginMessage
  messages.start.bits.table := Mux(isState(State.idle), start.bits.table, entry.table)
  messages.start.bits.create := orders.createObject
  messages.start.bits.parent := decided.place
  messages.start.bits.existing := Mux(isState(State.idle), start.bits.target, revisits.found.bits.address)
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

  // What is left over is told as a whole: a group when it ends.
  private val request = RegEnable(start.bits, start.valid)
  private val takesGroup = outcome.taken && outcome.isGroup
  private val begins = scanned.wire === WireType.startGroup.U
  private val delimited = Mux(outcome.isSkipped || scanned.hasText, scanned.value(31, 0), 0.U)
  private val from = Mux(groups.open, groups.start, values.position)
  groups.taken.valid := takesGroup
  groups.taken.bits.begins := begins
  groups.taken.bits.number := scanned.number
  groups.taken.bits.start := values.position
  groups.clear := start.valid
  leftovers.set := leftoverBounds
  leftoverHead := leftovers.head
  leftovers.add.valid := outcome.taken && outcome.isLeftOver && !groups.openNext
  leftovers.add.bits.target := level.target
  leftovers.add.bits.root := request.target
  leftovers.add.bits.address := request.source + from
  leftovers.add.bits.length := values.position + scanned.bytes + delimited - from
  leftovers.add.bits.number := Mux(scanned.inRun, scanned.number, 0.U)

  // The former case is still wanted where a message may be merged into the one that is there.
  oneofs.set.valid := entry.inOneof && ((takesField && !outcome.isMessage) || (orders.beginMessage && !start.valid))
  oneofs.set.bits.address := decided.casePlace
  oneofs.set.bits.number := scanned.number
  revisits.start := orders.revisit
  revisits.asked.pointer := decided.place
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

  private val sources = Seq(oneofs.store, leftovers.store, values.store) ++ stages.map(_.leaves)
  private val arbiter = Module(new Arbiter(new Store(params.port), sources.length))
  arbiter.io.in.zip(sources).foreach { case (input, source) => input <> source }
  store <> arbiter.io.out
  beat <> text.beat

  events.values := outcome.taken && !scanned.end
  events.inputStall := scanner.stalled
  events.storeStall := (store.valid && !store.ready) || (beat.valid && !beat.ready)
}

/** What a [[DeserializerFields]] did in a cycle. */
class FieldsEvents extends Bundle {
  val values = UInt(1.W)
  val inputStall = Bool()
  val storeStall = Bool()
}
