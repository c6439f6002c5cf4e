package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.WireType

/** Takes tags and values off the input, ahead of those who know their types.
  *
  * How long a value is follows from its tag. Only what is length-delimited has to be known first: there the scanner
  * halts until it is told to go on, unless the table promises that it is a string and it is a short one: its characters
  * leave the input with its tag.
  */
class DeserializerScanner(params: DeserializerParams) extends Module {
  import DeserializerScanner._

  val head = IO(Input(new InputHead(params.portBytes)))

  /** Bytes of the message that are left, and where in the input the head is. */
  val left = IO(Input(UInt(32.W)))
  val position = IO(Input(UInt(32.W)))

  /** As [[MessageType]] has them; none in a group. */
  val texts = IO(Input(UInt(MessageType.textBits.W)))

  /** Go on, with tags or with a run. */
  val resume = IO(Flipped(Valid(new ScannerResume)))

  /** Halt, and forget what was found. */
  val clear = IO(Input(Bool()))

  val field = IO(Decoupled(new ScannedField))

  /** Bytes that leave the input in this cycle. */
  val consume = IO(Output(UInt(log2Ceil(params.portBytes + 1).W)))

  /** The next bytes are not there. */
  val stalled = IO(Output(Bool()))

  private val state = RegInit(State.halted)
  private val run = Reg(new ScannerResume)
  private val runLeft = Reg(UInt(32.W))
  private val inRun = run.inRun
  private val scanning = state === State.scanning && head.fresh

  // Where the message or the run ends.
  private val bound = Mux(inRun, runLeft, left)
  private val isWhole = bound <= head.available
  private val available = Mux(isWhole, bound(head.available.getWidth - 1, 0), head.available)
  private val unreadable = head.fault && !isWhole

  private val tag = FieldKey.decode(head.data(8 * FieldKey.mostBytes - 1, 0), available)
  private val tagBytes = Mux(inRun, 0.U, tag.length)
  private val wire = Mux(inRun, run.wire, tag.wire)
  private def from(byte: Int): UInt = (head.data >> (8 * byte)).pad(8 * reach)(8 * reach - 1, 0)
  private val behind =
    MuxLookup(tagBytes, from(0))(Seq.tabulate(FieldKey.mostBytes)(i => (i + 1).U -> from(i + 1)))
  private val value = WireValue.decode(behind(8 * FieldValue.mostBytes - 1, 0), available - tagBytes, wire)

  // A short string: its length is one byte, and all of it is there.
  private val textLength = behind(7, 0)
  private val textTotal = tagBytes +& textLength(3, 0) +& 1.U
  private val isText = !inRun && tag.complete && !tag.wrong && tag.wire === WireType.lengthDelimited.U &&
    texts(tag.number(log2Ceil(MessageType.textBits) - 1, 0))
  private val hasText = (params.portBytes >= DeserializerStrings.objectBytes).B && isText &&
    textLength <= DeserializerStrings.inlineMost.U && textTotal <= available
  private val characters = Seq.tabulate(DeserializerStrings.inlineMost)(i =>
    Mux(i.U < textLength(3, 0), behind(8 * i + 15, 8 * i + 8), 0.U(8.W))
  )

  private val tagMalformed = !inRun && Mux(tag.complete, tag.wrong, tag.endless || isWhole)
  private val tagUnreadable = !inRun && !tag.complete && unreadable
  private val valueMalformed = value.wrong || (!value.complete && isWhole)
  private val valueUnreadable = !value.complete && unreadable
  private val tagDecides = tagMalformed || tagUnreadable
  private val valueDecides = (inRun || tag.complete) && (value.complete || valueMalformed || valueUnreadable)
  private val ends = bound === 0.U
  private val decided = ends || tagDecides || valueDecides

  private val tagAndValue = tagBytes +& value.length
  private val total = Mux(hasText, textTotal, tagAndValue)
  private val isShort = bound < (1 << total.getWidth).U

  private val found = Reg(new ScannedField)
  private val bytes = Reg(UInt(log2Ceil(params.portBytes + 1).W))
  field.valid := state === State.offering
  field.bits := found
  consume := Mux(field.fire, bytes, 0.U)
  stalled := scanning && !decided && head.available === 0.U

  when(scanning && decided) {
    state := State.offering
    found.number := tag.number
    found.wire := wire
    found.value := value.value
    found.start := position
    found.hasText := hasText
    found.text := Cat(characters.reverse)
    found.bytes := tagAndValue
    found.inRun := inRun
    found.end := ends
    found.last := isShort && bound(total.getWidth - 1, 0) === total && !inRun
    found.tagFailure.valid := !ends && (tagMalformed || tagUnreadable)
    found.tagFailure.bits := Mux(tagMalformed, Status.malformed, Status.accessFault)
    found.valueFailure.valid := !ends && (valueMalformed || valueUnreadable)
    found.valueFailure.bits := Mux(valueMalformed, Status.malformed, Status.accessFault)
    bytes := Mux(ends || tagDecides || valueMalformed || valueUnreadable, 0.U, total)
  }
  when(field.fire) {
    state := Mux(found.halts, State.halted, State.scanning)
    runLeft := runLeft - bytes
  }
  when(resume.valid) {
    state := State.scanning
    run := resume.bits
    runLeft := resume.bits.length
  }
  when(clear) { state := State.halted }
}

/** How a [[DeserializerScanner]] goes on. */
class ScannerResume extends Bundle {

  /** With the elements of a packed run of `length` bytes, which are written so; else with tags. */
  val inRun = Bool()
  val wire = UInt(3.W)
  val length = UInt(32.W)
}

/** States of a [[DeserializerScanner]]. */
object DeserializerScanner {

  /** Bytes behind a tag that are looked at: a length and the characters of a short string. */
  private val reach = 1 + DeserializerStrings.inlineMost

  /** `scanning` looks at the head; `offering` has found something. */
  object State extends ChiselEnum {
    val halted, scanning, offering = Value
  }
}
