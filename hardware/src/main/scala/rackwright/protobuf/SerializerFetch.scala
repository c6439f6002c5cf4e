package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.LoadedBeat

/** What a field turned out to be. */
object FoundKind extends ChiselEnum {

  /** A number; one string; the elements of an array of numbers; one message; pointers to strings or messages; a map. */
  val number, string, numbers, message, pointers, map = Value
}

/** A field that is present. */
class FoundField extends Bundle {
  val kind = FoundKind()
  val entry = new SerializerEntry
  val number = new WireNumber

  /** A string object, a message, the first element of an array, or the library's object of a map. */
  val address = UInt(DescriptorTable.addressBits.W)

  /** Elements of an array, or of the hash table of a map. */
  val count = UInt(31.W)

  /** A map that has to be read from its repeated field. */
  val inEntries = Bool()
}

/** Reads fields of the message at hand and offers those that are present, in the order in which their entries come.
  *
  * A cycle per field, two for one that is repeated, a map, or in a oneof. After an entry that may lead into another
  * message, the next one is taken when it is clear that it doesn't, or after `resume`.
  */
class SerializerFetch(lineBytes: Int) extends Module {
  private val laneBits = log2Ceil(lineBytes)

  /** Entries of the fields to read. */
  val entry = IO(Flipped(Decoupled(new SerializerEntry)))

  /** Address of the message. */
  val message = IO(Input(UInt(DescriptorTable.addressBits.W)))

  /** Reads of the object. */
  val request = IO(Decoupled(UInt(DescriptorTable.addressBits.W)))
  val response = IO(Flipped(Decoupled(new LoadedBeat(lineBytes))))

  /** Fields that are present. */
  val found = IO(Decoupled(new FoundField))

  /** What a oneof was found to hold: its number and place. */
  val holder = IO(Valid(UInt(32.W)))
  val oneof = IO(Output(UInt(16.W)))

  /** The walk of the request must end with this status. */
  val failure = IO(Valid(UInt(Status.width.W)))

  /** Drop what is under way. */
  val clear = IO(Input(Bool()))

  /** No entry is here; none is after this cycle. */
  val idle = IO(Output(Bool()))
  val ends = IO(Output(Bool()))

  private val waiting = RegInit(false.B)
  private val waits = Reg(new SerializerEntry)
  private val onFirst = Reg(Bool())
  private val reading = RegInit(false.B)
  private val reads = Reg(new SerializerEntry)
  private val readsFirst = Reg(Bool())
  private val lane = Reg(UInt(laneBits.W))

  private def isPointer(field: DescriptorEntry): Bool =
    FieldKind.isStringLike(field.kind) || FieldKind.isMessage(field.kind)
  private def leadsAway(field: DescriptorEntry): Bool =
    FieldKind.isMessage(field.kind) || (field.repeated && isPointer(field))
  private def hasTwo(field: DescriptorEntry): Bool = field.repeated || field.inOneof

  // RepeatedPtrField has an arena before its size, RepeatedField doesn't.
  private val sizeOffset = Mux(isPointer(waits.field), 8.U, 0.U)
  private val firstOffset = Mux(
    waits.field.repeated,
    waits.field.offset + Mux(waits.field.isMap, MapField.state.U, sizeOffset),
    waits.field.caseOffset
  )
  private val lastPart = Mux(waits.field.isMap, MapField.elements.U, sizeOffset +& 8.U)
  private val lastOffset = waits.field.offset + Mux(waits.field.repeated, lastPart, 0.U)
  request.valid := waiting
  request.bits := message + Mux(onFirst, firstOffset, lastOffset)

  private val moves = request.fire && !onFirst
  private val away = (waiting && leadsAway(waits.field)) || (reading && leadsAway(reads.field))
  entry.ready := (!waiting || moves) && !away
  idle := !waiting && !reading
  ends := !waiting && (!reading || (response.fire && !leadsAway(reads.field)))

  when(request.fire) {
    reads := waits
    readsFirst := onFirst
    lane := request.bits(laneBits - 1, 0)
    onFirst := false.B
  }
  when(entry.fire) {
    waits := entry.bits
    onFirst := hasTwo(entry.bits.field)
  }
  waiting := !clear && (entry.fire || (waiting && !moves))
  reading := !clear && (request.fire || (reading && !response.fire))

  // The word at hand: of the first read, a size, a case or the state of a map; of the last one, the value, a pointer or
  // the elements of a map.
  private val words = response.bits.data.asTypeOf(Vec(lineBytes / 8, UInt(64.W)))
  private val word = words(lane >> 3)
  private val half = Mux(lane(2), word(63, 32), word(31, 0))
  private val amount = Reg(UInt(32.W))
  private val holds = Reg(Bool())
  when(response.fire && readsFirst) {
    amount := half
    holds := half === (reads.tag >> 3)
  }
  holder.valid := response.fire && readsFirst && !reads.field.repeated && !response.bits.fault
  holder.bits := half
  oneof := reads.field.oneof

  private val field = reads.field
  private val last = reading && response.valid && !readsFirst
  private val number = WireNumber.fromMemory(field.kind, word, lane(2, 0))
  private val isMap = field.isMap
  private val inEntries = amount === MapField.stateRepeated.U
  // The low bits of the pointer to a singular string say who owns it.
  private val owned = word & Mux(FieldKind.isStringLike(field.kind) && !field.repeated, ~3.U(64.W), ~0.U(64.W))
  private val pointer = Mux(field.inline || isMap, (message + field.offset).pad(64), owned)
  private val isNumber = !field.repeated && !isPointer(field)
  private val isMessage = FieldKind.isMessage(field.kind)
  private val optional = !field.hasHasbit && !field.inOneof && !field.inEntry
  private val isZero = isNumber && field.implicitPresence && number.value === 0.U
  private val elsewhere = field.inOneof && !holds
  private val emptyArray = Mux(isMap, !inEntries && word === 0.U, amount === 0.U)
  private val empty = Mux(field.repeated, emptyArray, optional && (isZero || (isMessage && pointer === 0.U)))
  private val knownKind = field.kind =/= 0.U && field.kind <= FieldKind.sint64.U
  private val barredMap = isMap && (!field.repeated || reads.nodes.table === 0.U || amount > MapField.stateBoth.U)
  private val barred = field.unsupported || barredMap || !knownKind
  private val absent = elsewhere || (empty && !barred)
  private val foreign = barred || field.kind === FieldKind.group.U || (field.repeated && amount(31)) ||
    (!isNumber && pointer === 0.U)
  private val wild = !isNumber && ((pointer >> DescriptorTable.addressBits).orR || pointer(2, 0).orR)
  private val fault = reading && response.valid && response.bits.fault

  failure.valid := fault || (last && !absent && (foreign || wild))
  failure.bits := Mux(fault || !foreign, Status.accessFault, Status.unsupported)
  found.valid := last && !absent && !failure.valid
  found.bits.kind := Mux(
    field.repeated,
    Mux(isMap, FoundKind.map, Mux(isPointer(field), FoundKind.pointers, FoundKind.numbers)),
    Mux(isNumber, FoundKind.number, Mux(isMessage, FoundKind.message, FoundKind.string))
  )
  found.bits.entry := reads
  found.bits.number := number
  found.bits.address := pointer(DescriptorTable.addressBits - 1, 0)
  found.bits.count := Mux(isMap, word, amount)(30, 0)
  found.bits.inEntries := inEntries
  response.ready := reading && (readsFirst || absent || found.ready)
}
