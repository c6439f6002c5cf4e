package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

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

  /** Go into the message that was begun; its object may have fields already. */
  val enter = Bool()
  val merges = Bool()
  val pop = Bool()
}

/** Decides what is done when: the states that the reading of a message goes through. */
class DeserializerSequencer extends Module {
  import DeserializerSequencer._

  val start = IO(Input(Bool()))
  val ended = IO(Valid(new FieldsEnd))
  val state = IO(Output(State()))
  val orders = IO(Output(new SequencerOrders))

  /** Where the input is read, and where the tag of the field at hand was. */
  val position = IO(Input(UInt(32.W)))
  val tagStart = IO(Input(UInt(32.W)))

  /** A tag was taken whose value is still to come. */
  val pending = IO(Input(Bool()))
  val tagFailure = IO(Flipped(Valid(UInt(Status.width.W))))
  val value = IO(Input(new ValueOutcome))

  /** The field is repeated; may be there already. */
  val repeated = IO(Input(Bool()))
  val seen = IO(Input(Bool()))

  /** Nothing is left, after this cycle, of the packed run; of the message. */
  val runEnds = IO(Input(Bool()))
  val messageEnds = IO(Input(Bool()))

  /** No message can be gone into; the message is the outermost one. */
  val full = IO(Input(Bool()))
  val outermost = IO(Input(Bool()))

  /** A repeated field is open; the one wanted takes no further cycle to open. */
  val repeatedOpened = IO(Input(Bool()))
  val opensAtOnce = IO(Input(Bool()))

  /** The other boxes are done. */
  val hasbitsDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val repeatedDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val textDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val messagesDone = IO(Flipped(Valid(UInt(Status.width.W))))
  val found = IO(Flipped(Valid(new RevisitResult)))

  /** Nothing is under way that has to be over at the end. */
  val settled = IO(Input(Bool()))

  private val now = RegInit(State.idle)
  private val merges = Reg(Bool())
  private val status = Reg(UInt(Status.width.W))
  private val endsAt = Reg(UInt(32.W))
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

  /** Ends a message: what is on chip of it is stored. */
  private def close(): Unit = {
    orders.closeRepeated := repeatedOpened
    orders.flushHasbits := !repeatedOpened
    now := Mux(repeatedOpened, State.closing, State.flushing)
  }

  /** After bytes of a string have been taken. */
  private def goOnWithText(): Unit = {
    now := State.text
    after(textDone, State.fields)
    when(isOk(textDone) && messageEnds)(close())
  }

  /** After the value of a field, or its length, has been taken. */
  private def goOn(): Unit =
    when(value.isString)(goOnWithText()).elsewhen(value.isRun) { now := State.packed }.elsewhen(value.isMessage) {
      when(full)(finish(Status.unsupported)).elsewhen(repeated || !seen)(begin(exists = false.B, State.creating))
        .otherwise {
          orders.revisit := true.B
          now := State.revisiting
        }
    }.elsewhen(messageEnds)(close())

  when(start) {
    begin(exists = true.B, State.opening)
    merges := false.B
  }
  when(isState(State.opening))(after(messagesDone, State.fields))

  when(isState(State.fields) && !pending) {
    when(messageEnds)(close()).elsewhen(tagFailure.valid)(finish(tagFailure.bits, position))
  }
  when(value.failure.valid)(finish(value.failure.bits))
  when(value.needsMove) {
    orders.moveHasbits := true.B
    now := State.moving
  }
  when(value.needsOpen || value.needsRoom) {
    orders.openRepeated := value.needsOpen
    orders.growRepeated := value.needsRoom
    when(value.needsRoom || !opensAtOnce) { now := State.making }
  }
  when(value.taken && isState(State.fields))(goOn())
  when(isState(State.moving))(after(hasbitsDone, State.fields))
  when(isState(State.making))(after(repeatedDone, Mux(pending, State.fields, State.packed)))
  when(isState(State.packed) && runEnds) {
    now := State.fields
    when(messageEnds)(close())
  }
  when(isState(State.text))(goOnWithText())

  when(isState(State.revisiting) && found.valid) {
    when(found.bits.fault)(finish(Status.accessFault)).otherwise(begin(found.bits.exists, State.creating))
  }
  when(isState(State.creating))(after(messagesDone, State.fields))

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
  when(isState(State.popping)) { now := State.fields }

  // The good end needs no further cycle.
  private val endsWell = isState(State.flushing) && isOk(hasbitsDone) && outermost
  private val settling = isState(State.settling)
  ended.valid := (settling || endsWell) && settled
  ended.bits.status := Mux(settling, status, Status.ok)
  ended.bits.offset := Mux(settling, endsAt, position)
  when(ended.valid) { now := State.idle }
}

/** State of a [[DeserializerSequencer]]. */
object DeserializerSequencer {

  /** `fields` takes tags and values, `packed` elements of a run. Others wait for a box: `opening` and `creating` for
    * messages, `revisiting` for what an object holds already, `making` for a repeated field, `moving` and `flushing`
    * for hasbits, `text` for a string, `closing` and `popping` at the end of a message. `settling` lets lookups end.
    */
  object State extends ChiselEnum {
    val idle, opening, fields, moving, making, text, packed, revisiting, creating, closing, flushing, popping,
        settling = Value
  }
}
