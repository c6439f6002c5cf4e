package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable, FieldKind, WireType}

/** The state of the other blocks that concerns the current field. */
class ValueNeeds extends Bundle {

  /** Its hasbit is on chip. */
  val hasbitCovered = Bool()

  /** The repeated field is open, has room for one more element, and stores the pointer to the arena before its first
    * element.
    */
  val opened = Bool()
  val room = Bool()
  val withHeader = Bool()

  /** No case word waits to be stored; no leftover waits for its record, and there is room for one. */
  val oneofFree = Bool()
  val leftoverFree = Bool()
  val leftoverFits = Bool()

  /** There is room for one more nested group; an end tag matches the innermost group. */
  val groupFits = Bool()
  val groupEnds = Bool()

  /** The object may already contain the field. */
  val seen = Bool()

  /** The block for strings is idle. */
  val textFree = Bool()
}

/** What the current value is, and which actions it needs. */
class ValueOutcome extends Bundle {

  /** It is executed in this cycle. */
  val taken = Bool()

  /** Its tag is that of a known field; it is an element of a repeated field, or in a oneof. */
  val isField = Bool()
  val isElement = Bool()
  val inOneof = Bool()

  /** The field has a hasbit, and its index in the window. */
  val hasbit = Valid(UInt(DeserializerHasbits.bitBits.W))

  /** The value is one of these, or else a singular scalar or an element of a packed run: a string whose characters came
    * with its tag, or are still in the input.
    */
  val isText = Bool()
  val isString = Bool()
  val isMessage = Bool()
  val isRun = Bool()

  /** It is left to the library, including the bytes that it delimits; it is a group tag. */
  val isLeftOver = Bool()
  val isSkipped = Bool()
  val isGroup = Bool()

  /** The message, or the packed run, ends here; nothing of the message follows. */
  val endsMessage = Bool()
  val endsRun = Bool()
  val isLast = Bool()

  /** First, the window of its hasbit must be loaded; the repeated field must be opened, or must grow. */
  val needsMove = Bool()
  val needsOpen = Bool()
  val needsRoom = Bool()

  /** It fails with this status. */
  val failure = Valid(UInt(Status.width.W))
}

/** A field whose action has been decided. */
class DecidedField extends Bundle {
  val value = UInt(64.W)

  /** Its address; the address of its case word. */
  val place = UInt(DescriptorTable.addressBits.W)
  val casePlace = UInt(DescriptorTable.addressBits.W)

  /** The object may already contain it. */
  val seen = Bool()

  /** The pointer to the arena is stored together with the value. */
  val withArena = Bool()

  /** Address of the string object. */
  val string = UInt(DescriptorTable.addressBits.W)
}

/** Decides on the action of each field, and stores scalars: one cycle to decide, one to execute.
  *
  * While a plain field executes, the next one is decided: plain fields are singular numbers that do not change the
  * state on which other decisions depend.
  */
class DeserializerValues(params: DeserializerParams) extends Module {
  import DeserializerValues._

  val field = IO(Flipped(Decoupled(new ResolvedField)))

  /** Bytes of the message that follow the field. */
  val left = IO(Input(UInt(32.W)))

  /** Fields may be executed. */
  val enabled = IO(Input(Bool()))

  /** Discard the current field. */
  val clear = IO(Input(Bool()))

  val needs = IO(Input(new ValueNeeds))

  /** The object of the message; the address of the next element of the open repeated field. */
  val target = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val element = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val arena = IO(Input(UInt(64.W)))

  /** Allocates a string object. */
  val strings = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  val outcome = IO(Output(new ValueOutcome))

  /** The current field, or the last one; after a plain one, the field behind it. */
  val entry = IO(Output(new DescriptorEntry))
  val scanned = IO(Output(new ScannedField))
  val decided = IO(Output(new DecidedField))

  /** Its position in the input: that of its tag, or of itself if it has none. */
  val position = IO(Output(UInt(32.W)))

  // The field in the first stage, and the one in the second. They are the same, unless the latter is plain. The first
  // stage holds its field as long as either stage needs it.
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

  // The inputs of the decision, from registers and the other blocks.
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

  // Fields that the unit does not support are left to the library, unless later fields could change their meaning:
  // fields of oneofs, and entries of maps.
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
  // The table promises a string for a field that is none.
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
  // A plain field waits only for its hasbit.
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
  // The pointer to the arena precedes the first element, in the same beat.
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
    // An element of a packed run has the entry and the tag of its run.
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

/** What [[DeserializerValues]] does in the second cycle of a field. */
object DeserializerValues {

  /** Whether the field is a singular number outside of oneofs, supported by the unit, and not the last one. */
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
