package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** What a [[DeserializerSequencer]] starts in the other blocks in a cycle. */
class SequencerOrders extends Bundle {
  val moveHasbits = Bool()
  val flushHasbits = Bool()
  val openRepeated = Bool()
  val growRepeated = Bool()
  val closeRepeated = Bool()
  val revisit = Bool()

  /** Start a message: in a new object, or in the existing one. */
  val beginMessage = Bool()
  val createObject = Bool()

  /** Resume scanning, with tags or with a packed run. */
  val resume = Bool()
  val resumeRun = Bool()

  /** Enter the started message; its object may contain fields already. */
  val enter = Bool()
  val merges = Bool()
  val pop = Bool()
}

/** The state machine that controls the parsing of a message. */
class DeserializerSequencer extends Module {
  import DeserializerSequencer._

  /** Start a message; the one that the scanner has begun early, whose type and object are known. */
  val start = IO(Input(Bool()))
  val follow = IO(Input(Bool()))
  val ended = IO(Valid(new FieldsEnd))

  /** The message ends without an error, which is known one cycle before its end. */
  val succeeds = IO(Output(Bool()))
  val state = IO(Output(State()))
  val orders = IO(Output(new SequencerOrders))

  /** Position in the input, and that of the current field's tag. */
  val position = IO(Input(UInt(32.W)))
  val tagStart = IO(Input(UInt(32.W)))

  val value = IO(Input(new ValueOutcome))

  /** The field is repeated; it may occur again. */
  val repeated = IO(Input(Bool()))
  val seen = IO(Input(Bool()))

  /** The last bytes of a string are consumed; the message ends with them. */
  val textLeaves = IO(Flipped(Valid(Bool())))

  /** A group is open after the current field. */
  val inGroup = IO(Input(Bool()))

  /** The stack of messages is full; the current message is the top-level one. */
  val full = IO(Input(Bool()))
  val outermost = IO(Input(Bool()))

  /** A repeated field is open. */
  val repeatedOpened = IO(Input(Bool()))

  /** The other blocks have ended. */
  val hasbitsDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val repeatedDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val textDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val messagesDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val found = IO(Flipped(Valid(new RevisitResult)))

  /** Nothing is in flight that must end before the message does; after an error, no field of the message remains. */
  val settled = IO(Input(Bool()))
  val drained = IO(Input(Bool()))

  private val now = RegInit(State.idle)
  private val merges = Reg(Bool())
  private val status = Reg(UInt(Status.width.W))
  private val endsAt = Reg(UInt(32.W))
  private val endsWithText = Reg(Bool())
  private def isState(which: State.Type): Bool = now === which
  private def isOk(done: Valid[UInt]): Bool = done.valid && done.bits === Status.ok
  state := now
  orders := 0.U.asTypeOf(new SequencerOrders)
  orders.enter := (isState(State.opening) || isState(State.creating)) && isOk(messagesDone)
  orders.merges := merges

  private def finish(why: UInt, at: UInt = tagStart): Unit = {
    now := State.settling
    status := why
    endsAt := at
  }

  /** Continues when a block has ended. */
  private def after(done: Valid[UInt], next: State.Type): Unit =
    when(done.valid) { when(done.bits === Status.ok) { now := next }.otherwise(finish(done.bits)) }

  /** Starts a message, in an existing object or in a new one. */
  private def begin(exists: Bool, next: State.Type): Unit = {
    orders.beginMessage := true.B
    orders.createObject := !exists
    merges := exists
    now := next
  }

  /** Ends a message: state on chip is stored. The message must not end within a group. */
  private def close(): Unit =
    when(inGroup)(finish(Status.malformed)).otherwise {
      orders.closeRepeated := repeatedOpened
      orders.flushHasbits := !repeatedOpened
      now := Mux(repeatedOpened, State.closing, State.flushing)
    }

  /** Resumes with tags when a block has ended. */
  private def resumeAfter(done: Valid[UInt]): Unit = {
    after(done, State.fields)
    orders.resume := isOk(done)
  }

  /** Continues after a value, or after the end of the run or message around it. */
  private def goOn(): Unit =
    when(value.endsMessage)(close()).elsewhen(value.endsRun) { orders.resume := true.B }.elsewhen(
      value.isString || value.isSkipped
    ) {
      now := State.text
    }.elsewhen(value.isRun) { orders.resumeRun := true.B }.elsewhen(value.isMessage) {
      when(full)(finish(Status.unsupported)).elsewhen(repeated || !seen)(begin(exists = false.B, State.creating))
        .otherwise {
          orders.revisit := true.B
          now := State.revisiting
        }
    }.elsewhen(value.isLast)(close()).elsewhen(value.isGroup) { orders.resume := true.B }

  when(start) {
    begin(exists = true.B, State.opening)
    merges := false.B
  }
  when(isState(State.opening))(resumeAfter(messagesDone))

  when(value.failure.valid)(finish(value.failure.bits))
  when(value.needsMove) {
    orders.moveHasbits := true.B
    now := State.moving
  }
  when(value.needsOpen || value.needsRoom) {
    orders.openRepeated := value.needsOpen
    orders.growRepeated := value.needsRoom
    now := State.making
  }
  when(value.taken)(goOn())
  when(isState(State.moving))(after(hasbitsDone, State.fields))
  when(isState(State.making))(after(repeatedDone, State.fields))
  // The scanner resumes while the last bytes of a string are checked and stored.
  when(isState(State.text)) {
    after(textDone, State.fields)
    orders.resume := textLeaves.valid && !textLeaves.bits
    when(textLeaves.valid) { endsWithText := textLeaves.bits }
    when(isOk(textDone) && endsWithText)(close())
  }

  when(isState(State.revisiting) && found.valid) {
    when(found.bits.fault)(finish(Status.accessFault)).otherwise(begin(found.bits.exists, State.creating))
  }
  when(isState(State.creating))(resumeAfter(messagesDone))

  when(isState(State.closing) && repeatedDone.valid) {
    orders.flushHasbits := true.B
    now := State.flushing
  }
  when(isState(State.flushing) && hasbitsDone.valid) {
    finish(hasbitsDone.bits, position)
    when(isOk(hasbitsDone) && !outermost) {
      orders.pop := true.B
      now := State.popping
    }
  }
  when(isState(State.popping)) {
    now := State.fields
    orders.resume := true.B
  }

  // An end without an error needs no further cycle.
  private val endsWell = isState(State.flushing) && isOk(hasbitsDone) && outermost
  private val settling = isState(State.settling)
  succeeds := endsWell && settled
  ended.valid := (settling && drained && settled) || succeeds
  ended.bits.status := Mux(settling, status, Status.ok)
  ended.bits.offset := Mux(settling, endsAt, position)
  when(ended.valid) { now := State.idle }
  when(follow) {
    orders.enter := true.B
    orders.merges := false.B
    now := State.fields
  }
}

/** State of a [[DeserializerSequencer]]. */
object DeserializerSequencer {

  /** `fields` executes fields. The other states wait for a block: `opening` and `creating` for messages, `revisiting`
    * for an existing sub-message, `making` for a repeated field, `moving` and `flushing` for hasbits, `text` for a
    * string, `closing` and `popping` at the end of a message. `settling` waits for lookups.
    */
  object State extends ChiselEnum {
    val idle, opening, fields, moving, making, text, revisiting, creating, closing, flushing, popping, settling = Value
  }
}
