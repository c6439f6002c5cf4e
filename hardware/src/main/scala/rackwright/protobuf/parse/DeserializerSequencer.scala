package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** What a [[DeserializerSequencer]] has the other boxes do in a cycle. */
class SequencerOrders extends Bundle {
  val moveHasbits = Bool()
  val flushHasbits = Bool()
  val openRepeated = Bool()
  val growRepeated = Bool()
  val closeRepeated = Bool()
  val revisit = Bool()

  /** Begin a message: a new object, or the one that was found. */
  val beginMessage = Bool()
  val createObject = Bool()

  /** Read on in the input, with tags or with the run that was begun. */
  val resume = Bool()
  val resumeRun = Bool()

  /** Go into the message that was begun; its object may have fields already. */
  val enter = Bool()
  val merges = Bool()
  val pop = Bool()
}

/** Decides what is done when: the states that the reading of a message goes through. */
class DeserializerSequencer extends Module {
  import DeserializerSequencer._

  /** Begin with a message; with the one ahead, whose type and object are known. */
  val start = IO(Input(Bool()))
  val follow = IO(Input(Bool()))
  val ended = IO(Valid(new FieldsEnd))

  /** The message ends well, which is known earlier. */
  val succeeds = IO(Output(Bool()))
  val state = IO(Output(State()))
  val orders = IO(Output(new SequencerOrders))

  /** Where the input is read, and where the tag of the field at hand was. */
  val position = IO(Input(UInt(32.W)))
  val tagStart = IO(Input(UInt(32.W)))

  val value = IO(Input(new ValueOutcome))

  /** The field is repeated; may be there already. */
  val repeated = IO(Input(Bool()))
  val seen = IO(Input(Bool()))

  /** The last bytes of a string leave the input; the message ends with them. */
  val textLeaves = IO(Flipped(Valid(Bool())))

  /** A group is open behind the field at hand. */
  val inGroup = IO(Input(Bool()))

  /** No message can be gone into; the message is the outermost one. */
  val full = IO(Input(Bool()))
  val outermost = IO(Input(Bool()))

  /** A repeated field is open. */
  val repeatedOpened = IO(Input(Bool()))

  /** The other boxes are done. */
  val hasbitsDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val repeatedDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val textDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val messagesDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val found = IO(Flipped(Valid(new RevisitResult)))

  /** Nothing is under way that has to be over at the end; behind a failure, no field of the message is left. */
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

  /** Goes on when a box is done. */
  private def after(done: Valid[UInt], next: State.Type): Unit =
    when(done.valid) { when(done.bits === Status.ok) { now := next }.otherwise(finish(done.bits)) }

  /** Begins a message, in an object that exists or in a new one. */
  private def begin(exists: Bool, next: State.Type): Unit = {
    orders.beginMessage := true.B
    orders.createObject := !exists
    merges := exists
    now := next
  }

  /** Ends a message: what is on chip of it is stored. It must not end within a group. */
  private def close(): Unit =
    when(inGroup)(finish(Status.malformed)).otherwise {
      orders.closeRepeated := repeatedOpened
      orders.flushHasbits := !repeatedOpened
      now := Mux(repeatedOpened, State.closing, State.flushing)
    }

  /** Goes on with the tags behind what a box was busy with. */
  private def resumeAfter(done: Valid[UInt]): Unit = {
    after(done, State.fields)
    orders.resume := isOk(done)
  }

  /** After a value, or the end of what it was in, has been taken. */
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
  // The scanner goes on while the last bytes of a string are checked and stored.
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

  // The good end needs no further cycle.
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

  /** `fields` takes fields. Others wait for a box: `opening` and `creating` for messages, `revisiting` for what an
    * object holds already, `making` for a repeated field, `moving` and `flushing` for hasbits, `text` for a string,
    * `closing` and `popping` at the end of a message. `settling` lets lookups end.
    */
  object State extends ChiselEnum {
    val idle, opening, fields, moving, making, text, revisiting, creating, closing, flushing, popping, settling = Value
  }
}
