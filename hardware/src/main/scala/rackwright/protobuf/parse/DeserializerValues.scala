package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable, FieldKind, WireType}

/** What the other boxes say about the field at hand. */
class ValueNeeds extends Bundle {

  /** Its presence bit is on chip. */
  val hasbitCovered = Bool()

  /** The repeated field is open, has room for one more element, and wants the arena before its first one. */
  val opened = Bool()
  val room = Bool()
  val withHeader = Bool()

  /** No case word waits to be stored; no field that is left over waits for its record, and there is room for one. */
  val oneofFree = Bool()
  val leftoverFree = Bool()
  val leftoverFits = Bool()

  /** One more group fits within those that are open; the end of a group is that of the innermost one. */
  val groupFits = Bool()
  val groupEnds = Bool()

  /** The object may have the field already. */
  val seen = Bool()

  /** A string can be made. */
  val textFree = Bool()
}

/** What the value at hand is, and what has to be done about it. */
class ValueOutcome extends Bundle {

  /** It is taken in this cycle. */
  val taken = Bool()

  /** Its tag is that of a field of the object; it is an element of a repeated field, or in a oneof. */
  val isField = Bool()
  val isElement = Bool()
  val inOneof = Bool()

  /** The field has a presence bit, which of those on chip. */
  val hasbit = Valid(UInt(DeserializerHasbits.bitBits.W))

  /** It is one of these, else a single scalar or an element of a run: a string whose characters came with it, or are
    * still in the input.
    */
  val isText = Bool()
  val isString = Bool()
  val isMessage = Bool()
  val isRun = Bool()

  /** It is left over: for the library, with the bytes that it is delimited by; the tag of a group. */
  val isLeftOver = Bool()
  val isSkipped = Bool()
  val isGroup = Bool()

  /** The message, or the run, ends here; of the message, nothing is left behind it. */
  val endsMessage = Bool()
  val endsRun = Bool()
  val isLast = Bool()

  /** First, the presence bit has to be brought on chip; the repeated field has to be opened, or to grow. */
  val needsMove = Bool()
  val needsOpen = Bool()
  val needsRoom = Bool()

  /** It can't be taken, for this reason. */
  val failure = Valid(UInt(Status.width.W))
}

/** What is known of the field at hand once it has been decided what becomes of it. */
class DecidedField extends Bundle {
  val value = UInt(64.W)

  /** Where it lies; where its case word lies. */
  val place = UInt(DescriptorTable.addressBits.W)
  val casePlace = UInt(DescriptorTable.addressBits.W)

  /** The object may have had it before. */
  val seen = Bool()

  /** The arena is to be stored along with it. */
  val withArena = Bool()

  /** Where a string's object is to lie. */
  val string = UInt(DescriptorTable.addressBits.W)
}

/** Decides what becomes of fields, and stores scalars: one cycle to decide, one to act.
  *
  * While plain fields are acted on, the next one is decided: single numbers that change nothing of what others say.
  */
class DeserializerValues(params: DeserializerParams) extends Module {
  import DeserializerValues._

  val field = IO(Flipped(Decoupled(new ResolvedField)))

  /** Bytes of the message that are left behind the field. */
  val left = IO(Input(UInt(32.W)))

  /** Fields may be taken now. */
  val enabled = IO(Input(Bool()))

  /** Forget the field at hand. */
  val clear = IO(Input(Bool()))

  val needs = IO(Input(new ValueNeeds))

  /** The object of the message; where the next element of the open repeated field goes. */
  val target = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val element = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val arena = IO(Input(UInt(64.W)))

  /** Takes an object for a string. */
  val strings = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  val outcome = IO(Output(new ValueOutcome))

  /** The field at hand, or the one taken last; behind a plain one, the field behind that. */
  val entry = IO(Output(new DescriptorEntry))
  val scanned = IO(Output(new ScannedField))
  val decided = IO(Output(new DecidedField))

  /** Where it is in the input: its tag, or itself where it has none. */
  val position = IO(Output(UInt(32.W)))

  // The field that is decided, and the one that is acted on: the same one, unless that is plain. The former stays for
  // as long as it is one or the other.
  private val deciding = RegInit(false.B)
  private val acting = RegInit(false.B)
  private val stays = RegInit(false.B)
  private val isPlain = Reg(Bool())
  private val now = Reg(new ResolvedField)
  private val kept = Reg(new DecidedField)
  private val from = Reg(UInt(32.W))
  position := from
  entry := DescriptorTable.entry(now.line.data)
  scanned := now.field
  decided := kept
  private val found = now.field

  // What is known at the decision, from registers and the other boxes.
  private val value = FieldValue.of(found.value, entry)
  private val ownWire = FieldValue.wireOf(entry.kind)
  private val isString = FieldKind.isStringLike(entry.kind)
  private val isMessage = FieldKind.isMessage(entry.kind)
  private val delimited = !found.inRun && found.wire === WireType.lengthDelimited.U
  private val isRun = entry.repeated && delimited && !isString && !isMessage
  private val resolved = !found.tagFailure.valid && !found.end
  private val lineFault = !found.inRun && !now.unknown && now.line.fault
  private val isGroup = !found.inRun && WireType.isGroup(found.wire)
  private val endsGroup = isGroup && found.wire === WireType.endGroup.U
  private val outside = (value.unmapped || now.notInSet) && !delimited

  // What the unit has no place for is left over for the library, unless what comes behind it would change its meaning:
  // fields that the library knows to be in a oneof, entries of maps.
  private val isKnown = !now.unknown && entry.kind =/= 0.U
  private val isWhole = found.wire === ownWire || isRun
  private val isRefused = entry.unsupported || entry.kind === FieldKind.group.U
  private val isForeign = !found.inRun && (!isKnown || isRefused || !isWhole)
  private val isStranger = isForeign || outside
  private val mustNotWait = isKnown && (entry.inEntry || (isForeign && isRefused && entry.inOneof))
  private val foreign =
    isStranger && (mustNotWait || !needs.leftoverFits || (isGroup && !endsGroup && !needs.groupFits))
  private val strayEnd = endsGroup && !needs.groupEnds
  private val leftOver = resolved && isStranger && !foreign && !lineFault
  private val supported = resolved && !isStranger && !lineFault

  private val isEmptyRun = isRun && !found.valueFailure.valid && found.value === 0.U
  private val needsMove = entry.hasHasbit && !needs.hasbitCovered
  private val needsOpen = entry.repeated && !needs.opened && !isEmptyRun
  private val needsRoom = entry.repeated && !isRun && !needs.room
  private val isReady = !needsMove && !needsOpen && !needsRoom
  private val isOverrun = delimited && !found.hasText && found.value > left
  // A table that promises strings where it has others.
  private val isMisled = supported && found.hasText && !isString
  private val characters = Seq.tabulate(DeserializerStrings.inlineMost)(i => found.text(8 * i + 7, 8 * i))
  private val isWrongText = found.hasText && entry.utf8 &&
    (Utf8.wrong(Seq.fill(Utf8.carryBytes)(0.U(8.W)), characters) || Utf8.unfinished(
      characters.takeRight(Utf8.carryBytes)
    ))
  private val full = isString && delimited && !strings.fits

  private val plan = Reg(new Plan)
  private val takes = Wire(Bool())
  private val waits = Mux(supported, entry.inOneof && !needs.oneofFree, leftOver && !needs.leftoverFree)
  private val decides = deciding && enabled && (!acting || takes)
  // Plain ones have nothing to wait for but their presence bit.
  private val passes = decides && isPlain && !needsMove
  when(takes) { acting := false.B }
  when(decides && !waits) {
    deciding := false.B
    acting := true.B
    plan.isPlain := isPlain && !needsMove
    plan.isField := !found.inRun && !found.end && !leftOver
    plan.isElement := entry.repeated
    plan.inOneof := entry.inOneof
    plan.hasbit.valid := entry.hasHasbit
    plan.hasbit.bits := entry.hasbit
    plan.log2Bytes := FieldKind.log2Bytes(entry.kind)
    plan.last := found.last
    plan.isString := supported && isString
    plan.isMessage := supported && isMessage
    plan.isRun := supported && isRun
    plan.isLeftOver := leftOver
    plan.hasText := found.hasText
    plan.isSkipped := leftOver && delimited && !found.hasText
    plan.isGroup := leftOver && isGroup
    plan.end := found.end
    plan.move := supported && needsMove
    plan.open := supported && !needsMove && needsOpen
    plan.room := supported && !needsMove && !needsOpen && needsRoom
    plan.fails := found.tagFailure.valid || (resolved && (lineFault || foreign || strayEnd || isMisled)) ||
      (leftOver && (found.valueFailure.valid || isOverrun)) ||
      (supported && isReady && (found.valueFailure.valid || isOverrun || full || isWrongText))
    plan.status := MuxCase(
      Status.outputFull,
      Seq(
        found.tagFailure.valid -> found.tagFailure.bits,
        lineFault -> Status.accessFault,
        strayEnd -> Status.malformed,
        (foreign || isMisled) -> Status.unsupported,
        found.valueFailure.valid -> found.valueFailure.bits,
        (isOverrun || (isWrongText && !full)) -> Status.malformed
      )
    )
    plan.takes := found.end || leftOver || (supported && isReady)
    plan.stores := supported && isReady && !isMessage && !isRun
    kept.value := Mux(delimited, found.value, value.value)
    kept.place := Mux(entry.repeated, element, target + entry.offset)
    kept.casePlace := target + entry.caseOffset
    kept.seen := needs.seen
    kept.withArena := entry.repeated && needs.withHeader && !isString
    kept.string := strings.address
  }

  private val hasPlace = needs.textFree || !(plan.isString || plan.isSkipped)
  takes := acting && plan.takes && !plan.fails && hasPlace && (!plan.stores || store.ready)
  private val retries = acting && (plan.move || plan.open || plan.room)
  store.valid := acting && plan.stores && !plan.fails && hasPlace
  private val pointer = kept.string | Mux(entry.repeated, 0.U, DeserializerStrings.tag.U)
  private val stored = Mux(plan.isString, pointer, kept.value)
  private val first = Store.value(params.port, kept.place, stored, plan.log2Bytes)
  // The arena lies before the first element, in the same beat.
  store.bits := Store.both(params.port, first, Store.value(params.port, 0.U, arena, 3.U), kept.withArena)
  strings.bytes := DeserializerStrings.objectBytes.U
  strings.take := takes && plan.isString

  outcome.taken := takes
  outcome.isField := plan.isField
  outcome.isElement := plan.isElement
  outcome.inOneof := plan.inOneof
  outcome.hasbit := plan.hasbit
  outcome.isText := plan.isString && plan.hasText
  outcome.isString := plan.isString && !plan.hasText
  outcome.isMessage := plan.isMessage
  outcome.isRun := plan.isRun
  outcome.isLeftOver := plan.isLeftOver
  outcome.isSkipped := plan.isSkipped
  outcome.isGroup := plan.isGroup
  outcome.endsMessage := plan.end && !found.inRun
  outcome.endsRun := plan.end && found.inRun
  outcome.isLast := plan.last
  outcome.needsMove := acting && plan.move
  outcome.needsOpen := acting && plan.open
  outcome.needsRoom := acting && plan.room
  outcome.failure.valid := acting && plan.fails
  outcome.failure.bits := plan.status

  private val goes = passes || (takes && !plan.isPlain)
  field.ready := (!stays && enabled) || goes
  when(retries) {
    deciding := true.B
    acting := false.B
  }
  when(goes) { stays := false.B }
  when(field.fire) {
    deciding := true.B
    stays := true.B
    isPlain := isPlainField(field.bits)
    now := field.bits
    // An element of a run has the entry and the tag of its run.
    when(field.bits.field.inRun) {
      now.line := now.line
      now.field.start := now.field.start
      now.field.number := now.field.number
    }
    from := field.bits.field.start
  }
  when(clear) {
    deciding := false.B
    acting := false.B
    stays := false.B
  }
}

/** What [[DeserializerValues]] has to do in the second cycle of a field. */
object DeserializerValues {

  /** Whether the field is a number, single and in no oneof, that the unit stores, and not the last one. */
  private def isPlainField(field: ResolvedField): Bool = {
    val entry = DescriptorTable.entry(field.line.data)
    val scanned = field.field
    val isFound = !scanned.inRun && !scanned.end && !scanned.tagFailure.valid && !scanned.valueFailure.valid &&
      !field.unknown && !field.line.fault && !field.notInSet
    val isSingle = !entry.repeated && !entry.inOneof && !entry.unsupported && !entry.closedEnum && !scanned.last
    val isNumber = entry.kind =/= 0.U && entry.kind =/= FieldKind.group.U &&
      scanned.wire =/= WireType.lengthDelimited.U && scanned.wire === FieldValue.wireOf(entry.kind)
    isFound && isSingle && isNumber
  }

  /** As [[ValueOutcome]]. */
  class Plan extends Bundle {
    val isPlain = Bool()
    val isField = Bool()
    val isElement = Bool()
    val inOneof = Bool()
    val hasbit = Valid(UInt(DeserializerHasbits.bitBits.W))
    val log2Bytes = UInt(2.W)
    val isString = Bool()
    val isMessage = Bool()
    val isRun = Bool()
    val isLeftOver = Bool()
    val isSkipped = Bool()
    val isGroup = Bool()
    val hasText = Bool()
    val end = Bool()
    val last = Bool()
    val move = Bool()
    val open = Bool()
    val room = Bool()
    val fails = Bool()
    val status = UInt(Status.width.W)
    val takes = Bool()
    val stores = Bool()
  }
}
