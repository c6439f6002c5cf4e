package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** What the other boxes say about the field at hand. */
class ValueNeeds extends Bundle {

  /** Its presence bit is on chip. */
  val hasbitCovered = Bool()

  /** The repeated field is open, has room for one or two more elements, and wants the arena before its first one. */
  val opened = Bool()
  val room = Bool()
  val roomForTwo = Bool()
  val withHeader = Bool()

  /** No case word waits to be stored. */
  val oneofFree = Bool()
}

/** What the value at hand is, and what has to be done about it. */
class ValueOutcome extends Bundle {

  /** It, or its length, leaves the input in this cycle. */
  val taken = Bool()

  /** The element of a run behind it leaves along with it. */
  val pair = Bool()

  /** It is one of these, else a single scalar or an element of a run. */
  val isString = Bool()
  val isMessage = Bool()
  val isRun = Bool()

  /** First, the presence bit has to be brought on chip; the repeated field has to be opened, or to grow. */
  val needsMove = Bool()
  val needsOpen = Bool()
  val needsRoom = Bool()

  /** It can't be taken, for this reason. */
  val failure = Valid(UInt(Status.width.W))
}

/** Takes values off the input: scalars, which it stores, and the lengths of all else. */
class DeserializerValues(params: DeserializerParams) extends Module {
  val head = IO(Input(new InputHead(params.portBytes)))

  /** Bytes of the message that are left. */
  val left = IO(Input(UInt(32.W)))

  /** A tag has been taken whose value is still to come; it may be taken now. */
  val pending = IO(Input(Bool()))
  val inFields = IO(Input(Bool()))

  /** Elements of the packed run begun last are taken. */
  val inPacked = IO(Input(Bool()))

  /** The wire type of the tag, and the line of its field. */
  val wire = IO(Input(UInt(3.W)))
  val line = IO(Flipped(Valid(new DescriptorLine)))

  val needs = IO(Input(new ValueNeeds))

  /** Where the field lies. */
  val place = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val arena = IO(Input(UInt(64.W)))

  /** Takes an object for a string. */
  val strings = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  val outcome = IO(Output(new ValueOutcome))
  val value = IO(Output(new FieldValue))

  /** Bytes that leave the input in this cycle. */
  val consumed = IO(Output(UInt(log2Ceil(2 * FieldValue.mostBytes + 1).W)))

  /** The field at hand, or the one taken last. */
  val entry = IO(Output(new DescriptorEntry))

  /** Bytes of the value taken last; of a run, those that are left. */
  val length = IO(Output(UInt(32.W)))

  private val field = Reg(new DescriptorEntry)
  private val lengthLeft = Reg(UInt(32.W))
  entry := Mux(pending, DescriptorTable.entry(line.bits.data), field)
  length := lengthLeft

  private val ownWire = FieldValue.wireOf(entry.kind)
  private val valueWire = Mux(inPacked, ownWire, wire)
  value := FieldValue.decode(head.data, head.available, valueWire, entry)

  private val isString = FieldKind.isStringLike(entry.kind)
  private val isMessage = FieldKind.isMessage(entry.kind)
  private val delimited = valueWire === WireType.lengthDelimited.U
  private val isRun = entry.repeated && delimited && !isString && !isMessage
  private val unsupported = entry.kind === 0.U || entry.kind === FieldKind.group.U || entry.unsupported ||
    !(valueWire === ownWire || isRun)

  private val answered = inFields && pending && line.valid
  private val known = (answered && !line.bits.fault) || (inPacked && lengthLeft =/= 0.U)
  private val supported = known && !unsupported

  // Everything that has to be so before the value can be taken.
  private val isEmptyRun = isRun && value.complete && value.value === 0.U
  private val needsMove = entry.hasHasbit && !needs.hasbitCovered
  private val needsOpen = entry.repeated && !needs.opened && !isEmptyRun
  private val needsRoom = entry.repeated && !isRun && !needs.room
  private val ready = supported && !needsMove && !needsOpen && !needsRoom && !(entry.inOneof && !needs.oneofFree)

  private val isOverrun = delimited && value.value > (left - value.length)
  private val takesScalar = ready && !delimited && value.complete && !value.outsideEnum
  private val takesLength = ready && delimited && value.complete && !value.wrong && !isOverrun
  private val takesString = takesLength && isString
  private val stores = takesScalar || (takesString && strings.fits)
  store.valid := stores
  private val pointer = strings.address | Mux(entry.repeated, 0.U, DeserializerStrings.tag.U)
  private val log2Bytes = FieldKind.log2Bytes(entry.kind)
  private val element = Store.value(params.port, place, Mux(isString, pointer, value.value), log2Bytes)
  // The arena lies before the first element, in the same beat.
  private val withArena = entry.repeated && needs.withHeader && !isString
  private val first = Store.both(params.port, element, Store.value(params.port, 0.U, arena, 3.U), withArena)

  // Two elements of a run are taken at once where they lie in one beat.
  private val behind = head.data >> Cat(value.length, 0.U(3.W))
  private val second = FieldValue.decode(behind, head.available - value.length, ownWire, entry)
  private val secondPlace = place + (1.U << log2Bytes)
  private val inOneBeat = secondPlace(params.port.offsetBits - 1, 0) =/= 0.U
  private val pairs = inPacked && second.complete && !second.outsideEnum && needs.roomForTwo && inOneBeat
  store.bits := Store.both(params.port, first, Store.value(params.port, secondPlace, second.value, log2Bytes), pairs)
  strings.bytes := DeserializerStrings.objectBytes.U
  strings.take := takesString && store.fire

  outcome.taken := store.fire || (takesLength && !isString)
  outcome.pair := store.fire && pairs
  consumed := Mux(outcome.taken, value.length +& Mux(pairs, second.length, 0.U), 0.U)
  outcome.isString := isString
  outcome.isMessage := isMessage
  outcome.isRun := isRun
  outcome.needsMove := supported && needsMove
  outcome.needsOpen := supported && !needsMove && needsOpen
  outcome.needsRoom := supported && !needsMove && !needsOpen && needsRoom

  private val malformed = value.wrong || (!value.complete && head.isWhole) || (value.complete && isOverrun)
  private val unreadable = !value.complete && head.unreadable
  private val foreign = value.complete && value.outsideEnum && !delimited
  private val full = takesString && !strings.fits
  private val mayFail = supported && !needsMove && !needsOpen && !needsRoom
  outcome.failure.valid := (answered && line.bits.fault) || (known && unsupported) ||
    (mayFail && (malformed || unreadable || foreign || full))
  outcome.failure.bits := MuxCase(
    Status.outputFull,
    Seq(
      (answered && line.bits.fault) -> Status.accessFault,
      unsupported -> Status.unsupported,
      malformed -> Status.malformed,
      unreadable -> Status.accessFault,
      foreign -> Status.unsupported
    )
  )

  when(outcome.taken && inFields) {
    field := entry
    lengthLeft := value.value
  }
  when(inPacked) { lengthLeft := lengthLeft - consumed }
}
