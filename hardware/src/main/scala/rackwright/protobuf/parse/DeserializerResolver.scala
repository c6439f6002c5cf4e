package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLine, DescriptorRequest, DescriptorTable, EnumSets, WireType}
import rackwright.stream.SkidBuffer

/** Finds the entries of fields in the table of their message, in the order in which they come.
  *
  * A stage for the address of the field's line, and a few that wait for their lines, the first one then for its value
  * to be found in a set where its entry asks for that.
  */
class DeserializerResolver extends Module {
  val field = IO(Flipped(Decoupled(new ScannedField)))

  /** The type of the message of a field that is scanned; that is in a group, of which no type is known. */
  val scannedKind = IO(Input(new MessageType))
  val inGroup = IO(Input(Bool()))

  /** That of the message whose fields are taken, and which turn they have; that of the one ahead. */
  val kind = IO(Input(new MessageType))
  val turn = IO(Input(Bool()))
  val aheadKind = IO(Input(new MessageType))

  /** The fields that come next are those of another message, or of one that is gone back to. */
  val anew = IO(Input(Bool()))

  /** Forget all fields; lines that are answered in these cycles belong to them. */
  val clear = IO(Input(Bool()))

  /** Forget what is kept of sets. */
  val flush = IO(Input(Bool()))

  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))
  val resolved = IO(Decoupled(new ResolvedField))

  private class Asked extends Bundle {
    val field = new ScannedField

    /** The table has no line for it; its line is looked up. */
    val unknown = Bool()
    val wanted = Bool()

    /** Its line is that of the tag before it. */
    val same = Bool()
  }
  private class Located extends Bundle {
    val asked = new Asked

    /** Which line of the table is that of the field, if it has one. */
    val index = UInt(30.W)
  }
  // The field stays until it is taken.
  private val scanned = field
  private val located = Wire(Decoupled(new Located))
  private val tagged = !scanned.bits.inRun && !scanned.bits.end && !scanned.bits.tagFailure.valid
  private val inTable = scanned.bits.number >= scannedKind.least &&
    scanned.bits.number - scannedKind.least <= scannedKind.span
  private val isKnown = inTable && scanned.bits.wire =/= WireType.endGroup.U && !inGroup
  // Elements of a repeated field follow each other.
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

  // Two of them, so that the scanner does not depend on what is taken behind it.
  private val asking = SkidBuffer(located, clear)
  private val asked = Wire(Decoupled(new Asked))
  private val wanted = asking.bits.asked.wanted
  private val isSearched = RegInit(false.B)
  private val isNow = asking.bits.asked.field.turn === turn
  private val (table, span) = (Mux(isNow, kind.table, aheadKind.table), Mux(isNow, kind.span, aheadKind.span))
  private def lineAt(index: UInt): UInt = table + (index << log2Ceil(DescriptorTable.lineBytes))
  // While a set is searched, lines are those of the set: of fields, none is asked for, and all that were have come.
  private val asks = asking.valid && wanted && asked.ready && !isSearched && !clear
  lookup.valid := asks
  lookup.bits.address := lineAt(asking.bits.index)
  lookup.bits.last := lineAt(DescriptorTable.headerLines.U +& span)
  private val mayPass = !wanted || (lookup.ready && !isSearched)
  asked.valid := asking.valid && mayPass
  asked.bits := asking.bits.asked
  asking.ready := asked.ready && mayPass

  // Fields that wait, and lines that have come for them.
  private val waiting = Queue(asked, DeserializerResolver.fields, flush = Some(clear))
  private val fieldLine = Wire(Decoupled(new DescriptorLine))
  private val lines = Queue(fieldLine, DeserializerResolver.fields, flow = true, flush = Some(clear))
  private val awaited = RegInit(0.U(log2Ceil(DeserializerResolver.fields + 1).W))
  private val isForSet = isSearched && awaited === 0.U
  awaited := Mux(clear, 0.U, awaited + (asks && lookup.ready) - fieldLine.fire)
  fieldLine.valid := line.valid && !isForSet && !clear
  fieldLine.bits := line.bits
  private val now = waiting.bits.field
  // The line of the last tag: elements of its run have no other one, and it stays while a set is looked up.
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

  /** Fields that may wait for their lines: a lookup takes three cycles, and one begins in each. */
  val fields: Int = 4
}
