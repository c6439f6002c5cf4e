package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** Runs requests through a pipeline: one is parsed while the writes of earlier ones are outstanding, and its input is
  * scanned while the last fields of the previous one are stored.
  */
class DeserializerControl extends Module {
  val request = IO(Flipped(Decoupled(new DeserializerRequest)))

  /** To the parser of messages: start a message; start the one that the scanner has begun already. From it: how the
    * message ended; that it ends without an error, which is known one cycle earlier.
    */
  val start = IO(Valid(new FieldsStart))
  val follow = IO(Output(Bool()))

  /** `start` holds the message of the next request, which the scanner may begin early; it does so. */
  val isKnown = IO(Output(Bool()))
  val mayGoAhead = IO(Input(Bool()))
  val goesAhead = IO(Output(Bool()))
  val ended = IO(Flipped(Valid(new FieldsEnd)))
  val succeeds = IO(Input(Bool()))
  val arena = IO(Output(UInt(64.W)))

  /** To the input: start its next range; discard the rest of the current one. */
  val begin = IO(Flipped(new Bundle {
    val valid = Input(Bool())
    val ready = Output(Bool())
  }))
  val stop = IO(Output(Bool()))

  val regions = IO(Valid(new RegionBounds))
  val leftovers = IO(Valid(new LeftoverBounds))

  /** The write group of the current stores. */
  val turn = IO(Output(UInt(log2Ceil(ProtobufCompleter.groups).W)))

  /** Write out all collected stores. */
  val drain = IO(Output(Bool()))

  /** One for each request, in order, after its last store. */
  val completion = IO(Decoupled(new ProtobufCompletion))

  /** Every write has been answered. */
  val quiet = IO(Input(Bool()))

  /** Write groups whose previous request has completed. */
  val free = IO(Input(Vec(ProtobufCompleter.groups, Bool())))

  val idle = IO(Output(Bool()))

  private val reading = RegInit(false.B)
  private val now = Reg(new DeserializerRequest)
  private val group = RegInit(0.U(turn.getWidth.W))
  turn := group
  arena := now.arena
  idle := !reading
  drain := !reading

  private val isBegun = RegInit(false.B)
  // The input that the scanner has begun early is not the one that failed, of which nothing remains.
  private val fails = ended.valid && ended.bits.status =/= Status.ok
  stop := fails && !isBegun
  private val reads = request.bits.reads
  // After an error, memory that was written may be allocated again.
  private val failed = RegInit(false.B)
  when(fails) { failed := true.B }.elsewhen(quiet) { failed := false.B }
  // Only completions free groups, and only this module occupies them, so that the state may be one cycle old.
  private val ends = Wire(Bool())
  private val turnFree = RegNext(Mux(ends, free(group + 1.U), free(group)), false.B)
  // A request that has begun early continues in the cycle in which its predecessor ends without an error.
  private val nextFree = RegNext(free(group + Mux(ends, 2.U, 1.U)), false.B)
  private val available = !reading && turnFree && !failed
  private val starts = available && !isBegun && (!reads || begin.ready)
  follow := isBegun && (available || (reading && succeeds && nextFree && !failed))
  request.ready := starts || follow
  start.valid := request.valid && reads && starts
  start.bits := request.bits.message
  isKnown := request.valid && reads && reading && !isBegun
  goesAhead := isKnown && mayGoAhead && begin.ready
  begin.valid := start.valid || goesAhead
  isBegun := goesAhead || (isBegun && !follow)
  regions.valid := request.fire && request.bits.regions.valid
  regions.bits := request.bits.regions.bits
  leftovers.valid := request.fire && request.bits.leftovers.valid
  leftovers.bits := request.bits.leftovers.bits
  // A request without an input ends at once.
  private val endsUnread = request.fire && !reads
  completion.valid := (reading && ended.valid) || (available && request.valid && !reads)
  assert(!completion.valid || completion.ready, "there is a place for a completion of each group")
  completion.bits.record := Mux(reading, now.record, request.bits.record)
  completion.bits.status := Mux(reading, ended.bits.status, request.bits.verdict)
  completion.bits.word1 := Mux(reading, ended.bits.offset, 0.U)
  completion.bits.turn := group
  when(ended.valid) { reading := false.B }
  when(request.fire) {
    now := request.bits
    reading := reads
  }
  ends := ended.valid || endsUnread
  when(ends) { group := group + 1.U }
}
