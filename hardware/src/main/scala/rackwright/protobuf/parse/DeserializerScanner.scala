package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.WireType

/** Extracts tags and values from the input, ahead of the blocks that know their types.
  *
  * The length of a value follows from its tag. The scanner halts at a length-delimited field until it is resumed; only
  * a short string leaves the input together with its tag, if the table promises a string.
  *
  * At the end of a message, the scanner may begin that of the next request, `ahead` of the other blocks, which follow
  * later.
  *
  * A field takes two cycles: one to decode it, and one to consume it. A [[QuickField]] takes one.
  */
class DeserializerScanner(params: DeserializerParams) extends Module {
  import DeserializerScanner._

  val head = IO(Input(new InputHead(params.portBytes)))

  /** Remaining bytes of the message, and the position of the head in the input. */
  val left = IO(Input(UInt(32.W)))
  val position = IO(Input(UInt(32.W)))

  /** Begin the next request's message of this length, while the current one is exhausted: no field handed on leads
    * further into it. The other blocks begin this message; or they begin one that the scanner has not begun early.
    */
  val begin = IO(Flipped(Valid(UInt(32.W))))
  val exhausted = IO(Output(Bool()))
  val follow = IO(Input(Bool()))
  val start = IO(Input(Bool()))

  /** The scanned message is ahead; its remaining bytes, and the position of its head, after this cycle. */
  val ahead = IO(Valid(new ScannerPlace))

  /** As in [[MessageType]]; none in a group. */
  val texts = IO(Input(UInt(MessageType.textBits.W)))

  /** Resume, with tags or with a packed run. */
  val resume = IO(Flipped(Valid(new ScannerResume)))

  /** Halt, and discard the current field. */
  val clear = IO(Input(Bool()))

  val field = IO(Decoupled(new ScannedField))

  /** Bytes consumed in this cycle: those of a field that is handed on, or of a quick one. */
  val consume = IO(Output(UInt(log2Ceil(params.portBytes + 1).W)))
  val quick = IO(Output(UInt(QuickField.lengths.length.W)))

  /** The next bytes are not available. */
  val stalled = IO(Output(Bool()))

  private val state = RegInit(State.halted)
  private val run = Reg(new ScannerResume)
  private val inRun = run.inRun
  // Counters of a packed run, and of a message that is ahead.
  private val isAhead = RegInit(false.B)
  private val turn = RegInit(false.B)
  private val isCounted = isAhead || inRun
  private val own = Reg(new ScannerPlace)
  private val isExhausted = RegInit(false.B)
  private val scanning = state === State.scanning

  // The end of the message or of the run.
  private val bound = Mux(isCounted, own.left, left)
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

  // A short string: its length has one byte, and all its characters are available.
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
  private val offered = RegInit(false.B)
  private val bytes = Reg(UInt(log2Ceil(params.portBytes + 1).W))
  private val leaves = state === State.leaving
  field.valid := offered
  field.bits := found
  consume := Mux(leaves && field.fire, bytes, 0.U)
  private val takes = scanning && (!offered || field.ready)
  private val quickly = QuickField.decode(head.data, head.available, bound)
  quick := Mux(takes && !inRun, quickly, 0.U)
  private val isQuick = !inRun && quickly.orR
  stalled := scanning && !decided && head.available === 0.U

  private val isLast = isShort && bound(total.getWidth - 1, 0) === total && !inRun
  when(field.fire) { offered := false.B }
  exhausted := isExhausted && (!offered || field.ready)
  when(takes && decided) {
    state := Mux(isQuick, Mux(isLast, State.halted, State.scanning), State.leaving)
    isExhausted := isQuick && isLast
    offered := true.B
    found.number := tag.number
    found.wire := wire
    found.value := value.value
    found.start := Mux(isAhead, own.position, position)
    found.turn := turn
    found.hasText := hasText
    found.text := Cat(characters.reverse)
    found.bytes := tagAndValue
    found.inRun := inRun
    found.end := ends
    found.last := isLast
    found.tagFailure.valid := !ends && (tagMalformed || tagUnreadable)
    found.tagFailure.bits := Mux(tagMalformed, Status.malformed, Status.accessFault)
    found.valueFailure.valid := !ends && (valueMalformed || valueUnreadable)
    found.valueFailure.bits := Mux(valueMalformed, Status.malformed, Status.accessFault)
    bytes := Mux(ends || tagDecides || valueMalformed || valueUnreadable, 0.U, total)
  }
  when(leaves && field.fire) {
    state := Mux(found.halts, State.halted, State.scanning)
    isExhausted := found.exhausts
  }
  private val count = consume | QuickField.bytes(quick)
  own.left := own.left - count
  own.position := own.position + count
  ahead.valid := isAhead
  ahead.bits.left := own.left - count
  ahead.bits.position := own.position + count
  when(resume.valid) {
    state := State.scanning
    run := resume.bits
    own.left := resume.bits.length
    isExhausted := false.B
  }
  when(clear) {
    state := State.halted
    offered := false.B
  }
  when(start || clear) { isExhausted := false.B }
  when(follow) { isAhead := false.B }
  when(begin.valid) {
    state := State.scanning
    isAhead := true.B
    isExhausted := false.B
    turn := !turn
    run.inRun := false.B
    own.left := begin.bits
    own.position := 0.U
  }
}

/** The scanner's position in a message. */
class ScannerPlace extends Bundle {

  /** Remaining bytes, and preceding bytes. */
  val left = UInt(32.W)
  val position = UInt(32.W)
}

/** How the scanner resumes. */
class ScannerResume extends Bundle {

  /** With the elements of a packed run of `length` bytes, encoded with this wire type; otherwise with tags. */
  val inRun = Bool()
  val wire = UInt(3.W)
  val length = UInt(32.W)
}

/** States of a [[DeserializerScanner]]. */
object DeserializerScanner {

  /** Bytes after a tag that are examined: a length and the characters of a short string. */
  private val reach = 1 + DeserializerStrings.inlineMost

  /** `scanning` decodes the field at the head; `leaving` holds a decoded field that is still in the input. */
  object State extends ChiselEnum {
    val halted, scanning, leaving = Value
  }
}
