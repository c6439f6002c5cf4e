package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** A string to create: its object, its length, and whether it must be UTF-8; or bytes to skip. */
class StringStart extends Bundle {
  val skip = Bool()
  val address = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
  val utf8 = Bool()

  /** Its characters have been validated and consumed together with its tag. */
  val hasText = Bool()
  val text = UInt((8 * DeserializerStrings.inlineMost).W)
}

/** Creates a `std::string` of libstdc++ from the next bytes of the input.
  *
  * The object has 32 bytes: pointer, length, then either up to 15 characters, or the capacity with the characters
  * elsewhere; a zero byte follows the last character. Bytes are consumed in one cycle, and checked and stored in the
  * next.
  */
class DeserializerStrings(params: DeserializerParams) extends Module {
  import DeserializerStrings._
  private val portBytes = params.portBytes
  private val offsetBits = params.port.offsetBits

  /** Length of the next string, at least a cycle before its start, so that its address can be computed. */
  val upcoming = IO(Input(UInt(32.W)))

  /** Start, while it is idle; takes until `done`. */
  val start = IO(Flipped(Valid(new StringStart)))
  val free = IO(Output(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** The last bytes of the string, and their number, are consumed in this cycle. */
  val leaves = IO(Valid(UInt(32.W)))

  /** The input, which holds the whole string, and the number of bytes to consume. */
  val head = IO(Input(new InputHead(portBytes)))
  val consume = IO(Output(UInt(log2Ceil(portBytes + 1).W)))

  /** Allocates the characters of a long string. */
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
  // The object is stored as one beat, or else as two.
  private val atOnce = portBytes == objectBytes

  bytes.bytes := room
  bytes.take := isState(State.heading) && !inline && beat.fire

  // Bytes that were consumed in the previous cycle, or that wait for their beat to be stored.
  private val taken = Reg(UInt((8 * portBytes).W))
  private val takenCount = Reg(UInt(log2Ceil(portBytes + 1).W))
  private val takenLast = Reg(Bool())
  private val isTaken = RegInit(false.B)
  private val isLast = rest < portBytes.U
  private val count = Mux(isLast, rest(offsetBits - 1, 0), portBytes.U)
  private val there = head.available >= count
  private val heads = isState(State.heading) && beat.fire
  // The first characters of a long string are consumed while its object is stored.
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

  // The object: pointer and length, and its second half.
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

  /** Low bits of the pointer to a singular string: mutable, and owned by the arena (arenastring.h). */
  val tag: Int = 3

  /** Size of a `std::string` in bytes, and the largest length stored within it. */
  val objectBytes: Int = 32
  val inlineMost: Int = 15

  /** `refusing` has no memory for a long string. `heading` stores pointer and length, and the second half of the object
    * if this is a beat of its own; `sizing` stores the capacity; `moving` consumes bytes until the last ones wait in
    * `ending`.
    */
  object State extends ChiselEnum {
    val idle, refusing, heading, sizing, moving, ending = Value
  }
}
