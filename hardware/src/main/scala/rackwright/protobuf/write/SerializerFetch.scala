package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable, FieldKind, MapField}

/** The kind of a field that is present. */
object FoundKind extends ChiselEnum {

  /** A number; one string; the elements of an array of numbers; pointers to strings; one message; pointers to messages;
    * a map.
    */
  val number, string, numbers, strings, message, messages, map = Value
}

/** A field that is present. */
class FoundField extends Bundle {
  val kind = FoundKind()
  val entry = new SerializerEntry
  val number = new WireNumber

  /** Address of a string object, of a message, of the first element of an array, or of the library's map field. */
  val address = UInt(DescriptorTable.addressBits.W)

  /** Number of elements of an array, or of the hash table of a map. */
  val count = UInt(31.W)

  /** A map whose repeated field must be read. */
  val inEntries = Bool()

  /** The position in the list from which the walk continues. */
  val left = UInt(SerializerList.countBits.W)
}

/** Reads the fields of the current message, and outputs those that are present, in the order of their entries.
  *
  * A field takes one cycle; a repeated field, a map, or a field of a oneof takes two. Later fields are read
  * speculatively behind a sub-message; `clear` discards them.
  */
class SerializerFetch(lineBytes: Int) extends Module {
  import SerializerFetch._
  private val laneBits = log2Ceil(lineBytes)
  private val addressBits = DescriptorTable.addressBits

  /** Entries of the fields to read. */
  val entry = IO(Flipped(Decoupled(new ListedEntry)))

  /** Address of the message. */
  val message = IO(Input(UInt(addressBits.W)))

  /** Reads of the object. */
  val request = IO(Decoupled(UInt(addressBits.W)))
  val response = IO(Flipped(Decoupled(new LoadedBeat(lineBytes))))

  /** Fields that are present. */
  val found = IO(Decoupled(new FoundField))

  /** The field that a oneof contains: its number, and the offset of the case word. */
  val holder = IO(Valid(UInt(32.W)))
  val oneof = IO(Output(UInt(16.W)))

  /** The walk of the request ends with this status. */
  val failure = IO(Valid(UInt(Status.width.W)))

  /** Discard fields in flight; their reads must be discarded too. */
  val clear = IO(Input(Bool()))

  /** No field is in flight. */
  val idle = IO(Output(Bool()))

  private def stage[T <: Data](gen: T, depth: Int, pipe: Boolean = false): Queue[T] = {
    val queue = Module(new Queue(gen, depth, pipe = pipe, hasFlush = true))
    queue.io.flush.get := clear
    queue
  }
  private def isPointer(field: DescriptorEntry): Bool =
    FieldKind.isStringLike(field.kind) || FieldKind.isMessage(field.kind)

  // An entry becomes one read or two.
  private val waiting = RegInit(false.B)
  private val waits = Reg(new ListedEntry)
  private val onFirst = Reg(Bool())
  private val now = waits.entry.field
  private val sizeOffset = Mux(isPointer(now), 8.U, 0.U)
  // A RepeatedPtrField has an arena in front of its size, a RepeatedField does not.
  private val firstPart = Mux(now.isMap, MapField.state.U, sizeOffset)
  private val lastPart = Mux(now.isMap, MapField.elements.U, sizeOffset +& 8.U)
  private val part = Mux(now.repeated, Mux(onFirst, firstPart, lastPart), 0.U)
  private val placed = stage(new Placed, 1, pipe = true)
  placed.io.enq.valid := waiting
  placed.io.enq.bits.listed := waits
  placed.io.enq.bits.isFirst := onFirst
  placed.io.enq.bits.offset := Mux(onFirst && !now.repeated, now.caseOffset, now.offset)
  placed.io.enq.bits.part := part
  private val moves = placed.io.enq.fire && !onFirst
  entry.ready := !waiting || moves
  when(placed.io.enq.fire) { onFirst := false.B }
  when(entry.fire) {
    waits := entry.bits
    onFirst := entry.bits.entry.field.repeated || entry.bits.entry.field.inOneof
  }
  waiting := !clear && (entry.fire || (waiting && !moves))

  // The offset in the object; a read of it.
  private val asking = stage(new Asked, 1, pipe = true)
  private val at = placed.io.deq.bits
  asking.io.enq.valid := placed.io.deq.valid
  placed.io.deq.ready := asking.io.enq.ready
  asking.io.enq.bits.listed := at.listed
  asking.io.enq.bits.isFirst := at.isFirst
  asking.io.enq.bits.address := message + (at.offset +& at.part)
  private val reading = stage(new Asked, SerializerFetch.reads)
  request.valid := asking.io.deq.valid && reading.io.enq.ready && !clear
  request.bits := asking.io.deq.bits.address
  asking.io.deq.ready := request.ready && reading.io.enq.ready
  reading.io.enq.valid := asking.io.deq.valid && request.ready
  reading.io.enq.bits := asking.io.deq.bits

  // The word from memory.
  private val loaded = stage(new Loaded, 2)
  private val words = response.bits.data.asTypeOf(Vec(lineBytes / 8, UInt(64.W)))
  loaded.io.enq.valid := response.valid && reading.io.deq.valid
  response.ready := loaded.io.enq.ready && reading.io.deq.valid
  reading.io.deq.ready := loaded.io.enq.ready && response.valid
  loaded.io.enq.bits.asked := reading.io.deq.bits
  loaded.io.enq.bits.word := words(reading.io.deq.bits.address(laneBits - 1, 3))
  loaded.io.enq.bits.fault := response.bits.fault

  // Of the first read: a size, a case word, or the state of a map; of the last one: the value, a pointer, or the number
  // of elements of a map.
  private val reads = loaded.io.deq.bits.asked.listed
  private val isFirst = loaded.io.deq.bits.asked.isFirst
  private val address = loaded.io.deq.bits.asked.address
  private val word = loaded.io.deq.bits.word
  private val lane = address(2, 0)
  private val half = Mux(lane(2), word(63, 32), word(31, 0))
  private val amount = Reg(UInt(32.W))
  private val holds = Reg(Bool())
  private val took = loaded.io.deq.fire
  when(took && isFirst) {
    amount := half
    holds := half === (reads.entry.tag >> 3)
  }
  private val field = reads.entry.field
  private val isFault = loaded.io.deq.bits.fault
  holder.valid := took && isFirst && !field.repeated && !isFault
  holder.bits := half
  oneof := field.oneof

  private val last = loaded.io.deq.valid && !isFirst
  private val isMap = field.isMap
  private val isText = FieldKind.isStringLike(field.kind)
  private val inEntries = amount === MapField.stateRepeated.U
  // The low bits of the pointer to a singular string encode its ownership.
  private val owned = word & Mux(isText && !field.repeated, ~3.U(64.W), ~0.U(64.W))
  private val mapObject = address - MapField.elements.U
  private val pointer = Mux(isMap, mapObject.pad(64), Mux(field.inline, address.pad(64), owned))
  private val isNumber = !field.repeated && !isPointer(field)
  private val isMessage = FieldKind.isMessage(field.kind)
  private val optional = !field.hasHasbit && !field.inOneof && !field.inEntry
  private val byte = (half >> (lane(1, 0) << 3))(7, 0)
  private val isZeroHalf = Mux(FieldKind.isBool(field.kind), byte === 0.U, half === 0.U)
  private val isZeroValue = Mux(FieldKind.isWide(field.kind), word === 0.U, isZeroHalf)
  private val isZero = isNumber && field.implicitPresence && isZeroValue
  private val elsewhere = field.inOneof && !holds
  private val emptyArray = Mux(isMap, !inEntries && word === 0.U, amount === 0.U)
  private val empty = Mux(field.repeated, emptyArray, optional && (isZero || (isMessage && pointer === 0.U)))
  private val knownKind = field.kind =/= 0.U && field.kind <= FieldKind.sint64.U
  private val barredMap =
    isMap && (!field.repeated || reads.entry.nodes.table === 0.U || amount > MapField.stateBoth.U)
  private val barred = field.unsupported || barredMap || !knownKind
  private val absent = elsewhere || (empty && !barred)
  private val foreign = barred || field.kind === FieldKind.group.U || (field.repeated && amount(31)) ||
    (!isNumber && pointer === 0.U)
  private val wild = !isNumber && ((pointer >> addressBits).orR || pointer(2, 0).orR)

  private val judged = stage(new Judged, 2)
  private val fails = (loaded.io.deq.valid && isFault) || (last && !absent && (foreign || wild))
  judged.io.enq.valid := fails || (last && !absent)
  loaded.io.deq.ready := judged.io.enq.ready
  judged.io.enq.bits.fails := fails
  judged.io.enq.bits.status := Mux(isFault || !foreign, Status.accessFault, Status.unsupported)
  private val made = judged.io.enq.bits.found
  made.kind := Mux(
    field.repeated,
    MuxCase(
      FoundKind.numbers,
      Seq(isMap -> FoundKind.map, isMessage -> FoundKind.messages, isText -> FoundKind.strings)
    ),
    Mux(isNumber, FoundKind.number, Mux(isMessage, FoundKind.message, FoundKind.string))
  )
  made.entry := reads.entry
  made.left := reads.left
  made.number := WireNumber.fromMemory(field.kind, word, lane)
  made.address := pointer(addressBits - 1, 0)
  made.count := Mux(isMap, word, amount)(30, 0)
  made.inEntries := inEntries

  private val result = judged.io.deq
  found.valid := result.valid && !result.bits.fails
  found.bits := result.bits.found
  result.ready := found.ready && !result.bits.fails
  failure.valid := result.valid && result.bits.fails
  failure.bits := result.bits.status
  private val stages = Seq(placed, asking, reading, loaded, judged)
  idle := !waiting && stages.map(queue => !queue.io.deq.valid).reduce(_ && _)
}

/** The contents of the pipeline stages of a [[SerializerFetch]]. */
object SerializerFetch {

  /** Reads that wait for their beats. */
  val reads: Int = 8

  /** An entry, the number of its read, and the offset of that read in the object. */
  private class Placed extends Bundle {
    val listed = new ListedEntry
    val isFirst = Bool()
    val offset = UInt(32.W)
    val part = UInt(7.W)
  }
  private class Asked extends Bundle {
    val listed = new ListedEntry
    val isFirst = Bool()
    val address = UInt(DescriptorTable.addressBits.W)
  }
  private class Loaded extends Bundle {
    val asked = new Asked
    val word = UInt(64.W)
    val fault = Bool()
  }

  /** The field that was found, or the status with which the walk fails. */
  private class Judged extends Bundle {
    val found = new FoundField
    val fails = Bool()
    val status = UInt(Status.width.W)
  }
}
