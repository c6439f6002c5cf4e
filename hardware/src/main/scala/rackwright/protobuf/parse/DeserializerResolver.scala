package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLine, DescriptorRequest, DescriptorTable, EnumSets, WireType}
import rackwright.stream.SkidBuffer

/** Looks up the table entries of fields, in input order.
  *
  * A pipeline stage computes the address of the field's line. A queue of fields waits for their lines; at its head, the
  * value of a closed enum is looked up in a set if the entry says so.
  */
class DeserializerResolver extends Module {
  val field = IO(Flipped(Decoupled(new ScannedField)))

  /** The type of the message that is scanned; whether the scanner is in a group, whose type is not known. */
  val scannedKind = IO(Input(new MessageType))
  val inGroup = IO(Input(Bool()))

  /** The type of the message whose fields are executed, and its turn bit; the type of the next request's message. */
  val kind = IO(Input(new MessageType))
  val turn = IO(Input(Bool()))
  val aheadKind = IO(Input(new MessageType))

  /** The following fields belong to another message, or to an enclosing one. */
  val anew = IO(Input(Bool()))

  /** Discard all fields; lines that arrive in these cycles belong to them. */
  val clear = IO(Input(Bool()))

  /** Invalidate cached enum sets. */
  val flush = IO(Input(Bool()))

  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))
  val resolved = IO(Decoupled(new ResolvedField))

  private class Asked extends Bundle {
    val field = new ScannedField

    /** The table has no line for the field; its line is looked up. */
    val unknown = Bool()
    val wanted = Bool()

    /** It has the same line as the previous tag. */
    val same = Bool()
  }
  private class Located extends Bundle {
    val asked = new Asked

    /** The index of the field's line in the table, if it has one. */
    val index = UInt(30.W)
  }
  // The field is held until it is accepted.
  private val scanned = field
  private val located = Wire(Decoupled(new Located))
  private val tagged = !scanned.bits.inRun && !scanned.bits.end && !scanned.bits.tagFailure.valid
  private val inTable = scanned.bits.number >= scannedKind.least &&
    scanned.bits.number - scannedKind.least <= scannedKind.span
  private val isKnown = inTable && scanned.bits.wire =/= WireType.endGroup.U && !inGroup
  // Elements of an unpacked repeated field are consecutive.
  private val latest = RegInit(0.U.asTypeOf(Valid(UInt(29.W))))
  private val isSame = latest.valid && latest.bits === scanned.bits.number
  when(scanned.fire && tagged) {
    latest.valid := isKnown
    latest.bits := scanned.bits.number
  }
  when(anew || clear) { latest.valid := false.B }
  located.valid := scanned.valid
  scanned.ready := located.ready
  located.bits.index := scanned.bits.number +& DescriptorTable.headerLines.U - scannedKind.least
  located.bits.asked.field := scanned.bits
  located.bits.asked.unknown := tagged && !isKnown
  located.bits.asked.wanted := tagged && isKnown && !isSame
  located.bits.asked.same := tagged && isKnown && isSame

  // Two entries, so that the scanner does not depend on the blocks behind it.
  private val asking = SkidBuffer(located, clear)
  private val asked = Wire(Decoupled(new Asked))
  private val wanted = asking.bits.asked.wanted
  private val isSearched = RegInit(false.B)
  private val isNow = asking.bits.asked.field.turn === turn
  private val (table, span) = (Mux(isNow, kind.table, aheadKind.table), Mux(isNow, kind.span, aheadKind.span))
  private def lineAt(index: UInt): UInt = table + (index << log2Ceil(DescriptorTable.lineBytes))
  // During the search of a set, lines belong to the set: no line of a field is requested, and all requested ones have
  // arrived.
  private val asks = asking.valid && wanted && asked.ready && !isSearched && !clear
  lookup.valid := asks
  lookup.bits.address := lineAt(asking.bits.index)
  lookup.bits.last := lineAt(DescriptorTable.headerLines.U +& span)
  private val mayPass = !wanted || (lookup.ready && !isSearched)
  asked.valid := asking.valid && mayPass
  asked.bits := asking.bits.asked
  asking.ready := asked.ready && mayPass

  // Fields that wait, and lines that have arrived for them.
  private val waiting = Queue(asked, DeserializerResolver.fields, flush = Some(clear))
  private val fieldLine = Wire(Decoupled(new DescriptorLine))
  private val lines = Queue(fieldLine, DeserializerResolver.fields, flow = true, flush = Some(clear))
  private val awaited = RegInit(0.U(log2Ceil(DeserializerResolver.fields + 1).W))
  private val isForSet = isSearched && awaited === 0.U
  awaited := Mux(clear, 0.U, awaited + (asks && lookup.ready) - fieldLine.fire)
  fieldLine.valid := line.valid && !isForSet && !clear
  fieldLine.bits := line.bits
  private val now = waiting.bits.field
  // The line of the last tag: elements of a packed run share it, and it remains while a set is searched.
  private val kept = Reg(new DescriptorLine)
  private val sets = Module(new EnumSets)
  private val isThere = !waiting.bits.wanted || isSearched || lines.valid

  private val hasNumber = !now.end && !now.tagFailure.valid && !now.valueFailure.valid &&
    (now.inRun || ((waiting.bits.wanted || waiting.bits.same) && now.wire === WireType.varint.U))
  private val own = Mux(now.inRun || waiting.bits.same, kept, lines.bits)
  private val isInSet = hasNumber && !own.fault && DescriptorTable.isInSet(own.data)
  private val seeks = waiting.valid && isThere && isInSet && !isSearched
  private val takesLine = waiting.valid && waiting.bits.wanted && !isSearched && (resolved.ready || isInSet)
  lines.ready := takesLine
  when(takesLine && lines.valid)(kept := lines.bits)
  sets.start.valid := seeks && !clear
  sets.start.bits.set := own.word1
  sets.start.bits.value := now.value
  sets.clear := clear
  sets.flush := flush
  sets.line.valid := line.valid && isForSet
  sets.line.bits := line.bits
  isSearched := (isSearched || seeks) && !waiting.ready && !clear
  when(sets.lookup.valid) {
    lookup.valid := isForSet
    lookup.bits := sets.lookup.bits
  }
  sets.lookup.ready := lookup.ready && isForSet

  private val isDecided = Mux(isSearched, sets.found.valid, isThere && !isInSet)
  resolved.valid := waiting.valid && isDecided
  resolved.bits.field := now
  resolved.bits.line := Mux(isSearched || waiting.bits.same, kept, lines.bits)
  resolved.bits.unknown := waiting.bits.unknown
  resolved.bits.notInSet := isSearched && !sets.found.bits.known
  when(isSearched && sets.found.bits.fault) {
    resolved.bits.field.valueFailure.valid := true.B
    resolved.bits.field.valueFailure.bits := Status.accessFault
  }
  waiting.ready := resolved.ready && isDecided
  line.ready := clear || Mux(isForSet, sets.line.ready, fieldLine.ready)
}

/** Constants of a [[DeserializerResolver]]. */
object DeserializerResolver {

  /** Fields that may wait for their lines: a lookup takes three cycles, and one starts in each cycle. */
  val fields: Int = 4
}
