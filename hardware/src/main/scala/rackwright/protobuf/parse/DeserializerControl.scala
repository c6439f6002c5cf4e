package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** Takes requests through the unit: one is read while the writes of those before are being answered, and its input
  * while the last fields of the one before are stored.
  */
class DeserializerControl extends Module {
  val request = IO(Flipped(Decoupled(new DeserializerRequest)))

  /** To the box that reads messages: it begins with a message; with that, into which its scanner has gone ahead. How
    * that ended; it ends well, which is known earlier.
    */
  val start = IO(Valid(new FieldsStart))
  val follow = IO(Output(Bool()))

  /** `start` has the message of the next request, into which the scanner may go ahead, and goes. */
  val isKnown = IO(Output(Bool()))
  val mayGoAhead = IO(Input(Bool()))
  val goesAhead = IO(Output(Bool()))
  val ended = IO(Flipped(Valid(new FieldsEnd)))
  val succeeds = IO(Input(Bool()))
  val arena = IO(Output(UInt(64.W)))

  /** To the input: its next range; give up what is left of it. */
  val begin = IO(Flipped(new Bundle {
    val valid = Input(Bool())
    val ready = Output(Bool())
  }))
  val stop = IO(Output(Bool()))

  val regions = IO(Valid(new RegionBounds))
  val leftovers = IO(Valid(new LeftoverBounds))

  /** Which group the stores of now belong to. */
  val turn = IO(Output(UInt(log2Ceil(ProtobufCompleter.groups).W)))

  /** Hand on all stores. */
  val drain = IO(Output(Bool()))

  /** One per request, in order, when all its stores have been given. */
  val completion = IO(Decoupled(new ProtobufCompletion))

  /** Every store has been answered. */
  val quiet = IO(Input(Bool()))

  /** Groups whose former request has completed. */
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
  // The input that the scanner has gone ahead into is not the one that has failed, of which nothing is left.
  private val fails = ended.valid && ended.bits.status =/= Status.ok
  stop := fails && !isBegun
  private val reads = request.bits.reads
  // After an error, places that were written may be given out again.
  private val failed = RegInit(false.B)
  when(fails) { failed := true.B }.elsewhen(quiet) { failed := false.B }
  // A group becomes free by itself and is taken by what ends here, so that this may be known a cycle late.
  private val ends = Wire(Bool())
  private val turnFree = RegNext(Mux(ends, free(group + 1.U), free(group)), false.B)
  // What is begun goes on in the cycle in which the one before ends well.
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
  // A request that reads nothing ends at once.
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
