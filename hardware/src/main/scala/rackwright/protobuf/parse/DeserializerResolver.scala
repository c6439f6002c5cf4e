package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLine, DescriptorRequest, DescriptorTable, EnumSets, WireType}
import rackwright.stream.SkidBuffer

/** Finds the entries of fields in the table of their message, in the order in which they come.
  *
  * A stage for the address of the field's line, and one that waits for the line, and then for its value to be found in
  * a set where its entry asks for that.
  */
class DeserializerResolver extends Module {
  val field = IO(Flipped(Decoupled(new ScannedField)))

  /** The type of their message; they are in a group, of which no type is known. */
  val kind = IO(Input(new MessageType))
  val inGroup = IO(Input(Bool()))

  /** The fields that come next are those of another message, or of one that is gone back to. */
  val anew = IO(Input(Bool()))

  /** Forget all fields; lines that are answered in these cycles belong to them. */
  val clear = IO(Input(Bool()))

  /** Forget what is kept of sets. */
  val flush = IO(Input(Bool()))

  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))
  val resolved = IO(Decoupled(new ResolvedField))

  private class Located extends Bundle {
    val field = new ScannedField

    /** Which line of the table is that of the field, if it has one; whether it is looked up. */
    val index = UInt(30.W)
    val unknown = Bool()
    val wanted = Bool()

    /** Its line is that of the tag before it. */
    val same = Bool()
  }
  // The field stays until it is taken.
  private val scanned = field
  private val located = Wire(Decoupled(new Located))
  private val tagged = !scanned.bits.inRun && !scanned.bits.end && !scanned.bits.tagFailure.valid
  private val inTable = scanned.bits.number >= kind.least && scanned.bits.number - kind.least <= kind.span
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
  located.bits.field := scanned.bits
  located.bits.index := scanned.bits.number +& DescriptorTable.headerLines.U - kind.least
  located.bits.unknown := tagged && !isKnown
  located.bits.wanted := tagged && isKnown && !isSame
  located.bits.same := tagged && isKnown && isSame

  // Two of them, so that the scanner does not depend on what is taken behind it.
  private val asking = SkidBuffer(located, clear)
  private val asked = Wire(Decoupled(new Located))
  private val wanted = asking.bits.wanted
  private def lineAt(index: UInt): UInt = kind.table + (index << log2Ceil(DescriptorTable.lineBytes))
  lookup.valid := asking.valid && wanted && asked.ready && !clear
  lookup.bits.address := lineAt(asking.bits.index)
  lookup.bits.last := lineAt(DescriptorTable.headerLines.U +& kind.span)
  asked.valid := asking.valid && (!wanted || lookup.ready)
  asked.bits := asking.bits
  asking.ready := asked.ready && (!wanted || lookup.ready)

  private val waiting = Queue(asked, 1, pipe = true, flush = Some(clear))
  private val now = waiting.bits.field
  // The line of the last tag: elements of its run have no other one, and it stays while a set is looked up.
  private val kept = Reg(new DescriptorLine)
  private val sets = Module(new EnumSets)
  private val isSearched = RegInit(false.B)
  private val isThere = !waiting.bits.wanted || isSearched || line.valid

  // Nothing else is looked up meanwhile, because the field behind it waits for this stage.
  private val hasNumber = !now.end && !now.tagFailure.valid && !now.valueFailure.valid &&
    (now.inRun || ((waiting.bits.wanted || waiting.bits.same) && now.wire === WireType.varint.U))
  private val own = Mux(now.inRun || waiting.bits.same, kept, line.bits)
  private val isInSet = hasNumber && !own.fault && DescriptorTable.isInSet(own.data)
  private val seeks = waiting.valid && isThere && isInSet && !isSearched
  private val takesLine = waiting.valid && waiting.bits.wanted && !isSearched && (resolved.ready || isInSet)
  when(takesLine && line.valid)(kept := line.bits)
  sets.start.valid := seeks && !clear
  sets.start.bits.set := own.word1
  sets.start.bits.value := now.value
  sets.clear := clear
  sets.flush := flush
  sets.line.valid := line.valid && isSearched
  sets.line.bits := line.bits
  isSearched := (isSearched || seeks) && !waiting.ready && !clear
  when(sets.lookup.valid) {
    lookup.valid := true.B
    lookup.bits := sets.lookup.bits
  }
  sets.lookup.ready := lookup.ready

  private val isDecided = Mux(isSearched, sets.found.valid, isThere && !isInSet)
  resolved.valid := waiting.valid && isDecided
  resolved.bits.field := now
  resolved.bits.line := Mux(isSearched || waiting.bits.same, kept, line.bits)
  resolved.bits.unknown := waiting.bits.unknown
  resolved.bits.notInSet := isSearched && !sets.found.bits.known
  when(isSearched && sets.found.bits.fault) {
    resolved.bits.field.valueFailure.valid := true.B
    resolved.bits.field.valueFailure.bits := Status.accessFault
  }
  waiting.ready := resolved.ready && isDecided
  line.ready := clear || takesLine || sets.line.ready
}
