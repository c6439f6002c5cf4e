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

  /** Begin; takes until `done`. */
  val start = IO(Flipped(Valid(new StringStart)))
  val done = IO(Valid(UInt(Status.width.W)))

  /** The input, which holds the whole string. */
  val stream = IO(Flipped(new ByteStream(portBytes)))

  val array = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new StringStart)
  private val to = Reg(UInt(DescriptorTable.addressBits.W))
  private val left = Reg(UInt(32.W))
  private val before = Reg(Vec(Utf8.carryBytes, UInt(8.W)))
  private val broken = Reg(Bool())

  private val inline = asked.length <= inlineMost.U
  private val copying = state === State.copying
  private val inlining = state === State.inlining
  private val isLast = left < portBytes.U
  private val count = Mux(isLast, left, portBytes.U)(log2Ceil(portBytes + 1) - 1, 0)
  private val there = stream.available >= count
  private val bytes = Seq.tabulate(portBytes)(i => Mux(i.U < count, stream.data(i), 0.U(8.W)))
  private val text = Cat(bytes.reverse)

  array.bytes := Cat((asked.length +& portBytes.U) >> params.port.offsetBits, 0.U(params.port.offsetBits.W))
  array.take := state === State.heading && !inline && array.fits && store.ready

  private val contents = Mux(inline, asked.address + 16.U, array.address)
  store.valid := (state === State.heading && (inline || array.fits)) || state === State.sizing ||
    ((inlining || copying) && there)
  private val head = Mux(state === State.heading, Cat(asked.length.pad(64), contents.pad(64)), asked.length.pad(128))
  private val headAddress = Mux(state === State.heading, asked.address, asked.address + 16.U)
  when(copying) {
    store.bits.address := to
    store.bits.data := text
    store.bits.mask := Fill(portBytes, 1.U(1.W))
    store.bits.alone := true.B
  }.otherwise {
    store.bits := Store.line(params.port, headAddress, Mux(inlining, text(127, 0), head))
    store.bits.alone := true.B
  }

  private val moved = (inlining || copying) && store.fire
  stream.consume := Mux(moved, count, 0.U)

  private val wrong = Utf8.wrong(before, bytes) || (isLast && Utf8.unfinished(bytes.takeRight(Utf8.carryBytes)))
  private val bad = asked.utf8 && (broken || wrong)
  private val unreadable = (inlining || copying) && !there && stream.fault
  done.valid := (moved && isLast) || unreadable || (state === State.heading && !inline && !array.fits)
  done.bits := MuxCase(
    Mux(bad, Status.malformed, Status.ok),
    Seq(unreadable -> Status.accessFault, (state === State.heading) -> Status.outputFull)
  )

  when(start.valid) {
    asked := start.bits
    left := start.bits.length
    before := VecInit.fill(Utf8.carryBytes)(0.U(8.W))
    broken := false.B
    state := State.heading
  }
  when(state === State.heading && store.fire) {
    to := array.address
    state := Mux(inline, State.inlining, State.sizing)
  }
  when(state === State.sizing && store.fire) { state := State.copying }
  when(moved) {
    to := to + portBytes.U
    left := left - count
    before := VecInit(bytes.takeRight(Utf8.carryBytes))
    broken := bad
  }
  when(done.valid) { state := State.idle }
}

/** Constants and states of [[DeserializerStrings]]. */
object DeserializerStrings {

  /** Bytes of a `std::string`, and most bytes that fit into it. */
  val objectBytes: Int = 32
  val inlineMost: Int = 15

  /** `heading` stores pointer and length, `sizing` the capacity; `inlining` and `copying` move bytes. */
  object State extends ChiselEnum {
    val idle, heading, sizing, inlining, copying = Value
  }
}
