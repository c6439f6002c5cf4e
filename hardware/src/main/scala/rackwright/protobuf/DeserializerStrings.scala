package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.ByteStream

/** A string to make: its object, its length, and whether it must be UTF-8. */
class StringStart extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
  val utf8 = Bool()
}

/** Makes a `std::string` of libstdc++ out of the next bytes of the input.
  *
  * 32 bytes: pointer, length, then the bytes themselves up to 15, or the capacity and the bytes elsewhere; a zero byte
  * follows the last one.
  */
class DeserializerStrings(params: DeserializerParams) extends Module {
  import DeserializerStrings._
  private val portBytes = params.portBytes

  /** Begin, in this cycle; takes until `done`. */
  val start = IO(Flipped(Valid(new StringStart)))
  val done = IO(Valid(UInt(Status.width.W)))

  /** The last bytes leave the input in this cycle: the next tag is behind them. */
  val leaves = IO(Output(Bool()))

  /** The input, which holds the whole string. */
  val stream = IO(Flipped(new ByteStream(portBytes)))

  /** Where the bytes of a long string go. */
  val bytes = IO(new Allocation)
  val beat = IO(Decoupled(new Beat(params.port)))

  private val waiting = RegInit(State.idle)
  private val state = Mux(start.valid, State.heading, waiting)
  private val kept = Reg(new StringStart)
  private val asked = Mux(start.valid, start.bits, kept)
  private val to = Reg(UInt(DescriptorTable.addressBits.W))
  private val rest = Reg(UInt(32.W))
  private val left = Mux(start.valid, start.bits.length, rest)
  private val before = Reg(Vec(Utf8.carryBytes, UInt(8.W)))
  private val broken = Reg(Bool())
  waiting := state
  kept := asked
  rest := left

  private val inline = asked.length <= inlineMost.U
  // The whole object is a beat, or else two.
  private val atOnce = (portBytes == objectBytes).B
  private val heading = state === State.heading
  private val copying = state === State.copying
  private val inlining = state === State.inlining || (heading && inline && atOnce)
  private val isLast = left < portBytes.U
  private val count = Mux(isLast, left, portBytes.U)(log2Ceil(portBytes + 1) - 1, 0)
  private val there = stream.available >= count
  private val characters = Seq.tabulate(portBytes)(i => Mux(i.U < count, stream.data(i), 0.U(8.W)))
  private val text = Cat(characters.reverse)

  bytes.bytes := Cat((asked.length +& portBytes.U) >> params.port.offsetBits, 0.U(params.port.offsetBits.W))
  bytes.take := heading && !inline && bytes.fits && beat.ready

  private val contents = Mux(inline, asked.address + 16.U, bytes.address)
  beat.valid := (heading && !inline && bytes.fits) || (heading && inline && !atOnce) || state === State.sizing ||
    ((inlining || copying) && there)
  private val first = Cat(asked.length.pad(64), contents.pad(64))
  private val second = Mux(inlining, text(127, 0), asked.length.pad(128))
  beat.bits.address := MuxCase(asked.address + 16.U, Seq(copying -> to, (heading || atOnce) -> asked.address))
  beat.bits.data := MuxCase(second, Seq(copying -> text, atOnce -> second ## first, heading -> first))

  private val moved = (inlining || copying) && beat.fire
  stream.consume := Mux(moved, count, 0.U)

  private val carried = before.map(byte => Mux(start.valid, 0.U, byte))
  private val wrong =
    Utf8.wrong(carried, characters) || (isLast && Utf8.unfinished(characters.takeRight(Utf8.carryBytes)))
  private val bad = asked.utf8 && ((broken && !start.valid) || wrong)
  leaves := moved && isLast && !bad
  private val unreadable = (inlining || copying) && !there && stream.fault
  done.valid := (moved && isLast) || unreadable || (heading && !inline && !bytes.fits)
  done.bits := MuxCase(
    Mux(bad, Status.malformed, Status.ok),
    Seq(unreadable -> Status.accessFault, (heading && !inline) -> Status.outputFull)
  )

  when(start.valid) {
    before := VecInit(carried)
    broken := false.B
  }
  when(heading && beat.fire) {
    to := bytes.address
    waiting := Mux(inline, State.inlining, Mux(atOnce, State.copying, State.sizing))
  }
  when(state === State.sizing && beat.fire) { waiting := State.copying }
  when(moved) {
    to := to + portBytes.U
    rest := left - count
    before := VecInit(characters.takeRight(Utf8.carryBytes))
    broken := bad
  }
  when(done.valid) { waiting := State.idle }
}

/** Constants and states of [[DeserializerStrings]]. */
object DeserializerStrings {

  /** Low bits of the pointer of a singular string: it may be changed, and the arena owns it (arenastring.h). */
  val tag: Int = 3

  /** Bytes of a `std::string`, and most bytes that fit into it. */
  val objectBytes: Int = 32
  val inlineMost: Int = 15

  /** `heading` stores pointer and length, and the rest of the object if it is a beat of its own; `sizing` the capacity;
    * `inlining` and `copying` move bytes.
    */
  object State extends ChiselEnum {
    val idle, heading, sizing, inlining, copying = Value
  }
}
