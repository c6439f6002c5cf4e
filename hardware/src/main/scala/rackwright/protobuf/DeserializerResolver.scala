package rackwright.protobuf

import chisel3._
import chisel3.util._

/** Finds the entries of fields in the table of their message, in the order in which they come.
  *
  * A stage for the address of the field's line, and one that waits for the line.
  */
class DeserializerResolver extends Module {
  val field = IO(Flipped(Decoupled(new ScannedField)))

  /** The type of their message. */
  val kind = IO(Input(new MessageType))

  /** Forget all fields; lines that are answered in these cycles belong to them. */
  val clear = IO(Input(Bool()))

  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))
  val resolved = IO(Decoupled(new ResolvedField))

  private class Located extends Bundle {
    val field = new ScannedField

    /** Which line of the table is that of the field, if it has one; whether it is looked up. */
    val index = UInt(30.W)
    val unknown = Bool()
    val wanted = Bool()
  }
  private def stage(in: DecoupledIO[Located]): DecoupledIO[Located] =
    Queue(in, 1, pipe = true, flush = Some(clear))

  // The field stays until it is taken.
  private val scanned = field
  private val located = Wire(Decoupled(new Located))
  private val tagged = !scanned.bits.inRun && !scanned.bits.end && !scanned.bits.tagFailure.valid
  private val inTable = scanned.bits.number >= kind.least && scanned.bits.number - kind.least <= kind.span
  private val isKnown = inTable && scanned.bits.wire =/= WireType.startGroup.U
  located.valid := scanned.valid
  scanned.ready := located.ready
  located.bits.field := scanned.bits
  located.bits.index := scanned.bits.number +& DescriptorTable.headerLines.U - kind.least
  located.bits.unknown := tagged && !isKnown
  located.bits.wanted := tagged && isKnown

  private val asking = stage(located)
  private val asked = Wire(Decoupled(new Located))
  private val wanted = asking.bits.wanted
  private def lineAt(index: UInt): UInt = kind.table + (index << log2Ceil(DescriptorTable.lineBytes))
  lookup.valid := asking.valid && wanted && asked.ready && !clear
  lookup.bits.address := lineAt(asking.bits.index)
  lookup.bits.last := lineAt(DescriptorTable.headerLines.U +& kind.span)
  asked.valid := asking.valid && (!wanted || lookup.ready)
  asked.bits := asking.bits
  asking.ready := asked.ready && (!wanted || lookup.ready)

  private val waiting = stage(asked)
  private val answered = resolved
  private val isThere = !waiting.bits.wanted || line.valid
  answered.valid := waiting.valid && isThere
  answered.bits.field := waiting.bits.field
  answered.bits.line := line.bits
  answered.bits.unknown := waiting.bits.unknown
  waiting.ready := answered.ready && isThere
  line.ready := clear || (waiting.valid && waiting.bits.wanted && answered.ready)
}
