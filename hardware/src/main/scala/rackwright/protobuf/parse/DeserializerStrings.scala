package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** A string to make: its object, its length, and whether it must be UTF-8; or bytes that are to be passed over. */
class StringStart extends Bundle {
  val skip = Bool()
  val address = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
  val utf8 = Bool()

  /** Its characters are at hand, known to be right, and have left the input. */
  val hasText = Bool()
  val text = UInt((8 * DeserializerStrings.inlineMost).W)
}

/** Makes a `std::string` of libstdc++ out of the next bytes of the input.
  *
  * 32 bytes: pointer, length, then the bytes themselves up to 15, or the capacity and the bytes elsewhere; a zero byte
  * follows the last one. Bytes are taken off the input in one cycle, and checked and stored in the next.
  */
class DeserializerStrings(params: DeserializerParams) extends Module {
  import DeserializerStrings._
  private val portBytes = params.portBytes
  private val offsetBits = params.port.offsetBits

  /** Bytes of the string that may begin: told at least a cycle before it does, so that its place is known by then. */
  val upcoming = IO(Input(UInt(32.W)))

  /** Begin, while it is free; takes until `done`. */
  val start = IO(Flipped(Valid(new StringStart)))
  val free = IO(Output(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** The last bytes, so many, leave the input in this cycle. */
  val leaves = IO(Valid(UInt(32.W)))

  /** The input, which holds the whole string, and how many bytes of it leave. */
  val head = IO(Input(new InputHead(portBytes)))
  val consume = IO(Output(UInt(log2Ceil(portBytes + 1).W)))

  /** Where the bytes of a long string go. */
  val bytes = IO(new Allocation)
  val beat = IO(Decoupled(new Beat(params.port)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new StringStart)
  private val room = RegNext(Cat((upcoming +& portBytes.U) >> offsetBits, 0.U(offsetBits.W)).asTypeOf(UInt(33.W)))
  private val inline = Reg(Bool())
  private val contents = Reg(UInt(DescriptorTable.addressBits.W))
  private val to = Reg(UInt(DescriptorTable.addressBits.W))
  private val rest = Reg(UInt(32.W))
  private def isState(which: State.Type): Bool = state === which
  free := isState(State.idle)
  // The whole object is a beat, or else two.
  private val atOnce = portBytes == objectBytes

  bytes.bytes := room
  bytes.take := isState(State.heading) && !inline && beat.fire

  // Bytes that left the input in the cycle before, or that wait for their beat to be stored.
  private val taken = Reg(UInt((8 * portBytes).W))
  private val takenCount = Reg(UInt(log2Ceil(portBytes + 1).W))
  private val takenLast = Reg(Bool())
  private val isTaken = RegInit(false.B)
  private val isLast = rest < portBytes.U
  private val count = Mux(isLast, rest(offsetBits - 1, 0), portBytes.U)
  private val there = head.available >= count
  private val heads = isState(State.heading) && beat.fire
  // The first bytes of a long one leave the input while its object is stored.
  private val moves = (isState(State.moving) || (heads && atOnce.B)) && there && !isTaken
  consume := Mux(moves, count, 0.U)
  leaves.valid := moves && isLast
  leaves.bits := rest

  private val characters = Seq.tabulate(portBytes)(i => Mux(i.U < takenCount, taken(8 * i + 7, 8 * i), 0.U(8.W)))
  private val text = Cat(characters.reverse)
  private val before = Reg(Vec(Utf8.carryBytes, UInt(8.W)))
  private val broken = Reg(Bool())
  private val wrong =
    Utf8.wrong(before, characters) || (takenLast && Utf8.unfinished(characters.takeRight(Utf8.carryBytes)))
  private val bad = asked.utf8 && (broken || wrong)

  // The object: pointer and length, and the rest of it.
  private val first = Cat(asked.length.pad(64), contents.pad(64))
  private val second = Mux(isTaken, text(127, 0), asked.length.pad(128))
  private val copies = isTaken && !inline
  beat.valid := !asked.skip && (isTaken || isState(State.heading) || isState(State.sizing))
  private val leavesTaken = isTaken && (asked.skip || beat.fire)
  beat.bits.address := to
  beat.bits.data := Mux(copies, text, if (atOnce) second ## first else Mux(isState(State.heading), first, second))

  private val finishes = leavesTaken && takenLast
  private val unreadable = isState(State.moving) && !there && !isTaken && head.fault
  private val noRoom = isState(State.refusing)
  done.valid := finishes || unreadable || noRoom
  done.bits := MuxCase(
    Mux(bad, Status.malformed, Status.ok),
    Seq(unreadable -> Status.accessFault, noRoom -> Status.outputFull)
  )

  when(heads) {
    to := Mux(!inline && atOnce.B, contents, to + 16.U)
    state := Mux(inline || atOnce.B, State.moving, State.sizing)
  }
  when(isState(State.sizing) && beat.fire) {
    to := contents
    state := State.moving
  }
  when(leavesTaken) {
    isTaken := false.B
    to := to + portBytes.U
    before := VecInit(characters.takeRight(Utf8.carryBytes))
    broken := bad
  }
  when(moves) {
    isTaken := true.B
    taken := head.data
    takenCount := count
    takenLast := isLast
    rest := rest - count
    when(isLast) { state := State.ending }
  }
  when(done.valid) { state := State.idle }
  when(start.valid) {
    val fitsInline = start.bits.length <= inlineMost.U || start.bits.skip
    asked := start.bits
    inline := fitsInline
    to := start.bits.address
    rest := start.bits.length
    before := VecInit.fill(Utf8.carryBytes)(0.U(8.W))
    broken := false.B
    contents := Mux(fitsInline, start.bits.address + 16.U, bytes.address)
    state := State.heading
    when(fitsInline && atOnce.B)(state := State.moving)
    when(!fitsInline && !bytes.fits)(state := State.refusing)
    when(start.bits.skip)(state := State.moving)
    when(start.bits.hasText) {
      isTaken := true.B
      taken := start.bits.text
      takenCount := portBytes.U
      takenLast := true.B
      state := State.ending
    }
  }
}

/** Constants and states of [[DeserializerStrings]]. */
object DeserializerStrings {

  /** Low bits of the pointer of a singular string: it may be changed, and the arena owns it (arenastring.h). */
  val tag: Int = 3

  /** Bytes of a `std::string`, and most bytes that fit into it. */
  val objectBytes: Int = 32
  val inlineMost: Int = 15

  /** `refusing` has no room for the bytes of a long one. `heading` stores pointer and length, and the rest of the
    * object if it is a beat of its own; `sizing` the capacity; `moving` takes bytes off the input, until the last ones
    * wait in `ending`.
    */
  object State extends ChiselEnum {
    val idle, refusing, heading, sizing, moving, ending = Value
  }
}
