package rackwright.store

import chisel3._
import chisel3.util._

/** Executes what is for all items: counts them, and removes them, now or when the time for it has come. No other
  * request is in flight meanwhile.
  *
  * A region without an item is one with empty buckets and free lists, whose items begin where they did at first.
  */
class AllItems extends Module {
  private object State extends ChiselEnum {
    val idle, usage, decide, erase, empty, remember, flag, settle, answer = Value
  }

  val region = IO(Input(new Region))

  /** The request, and the time from which on no item is to exist. */
  val found = IO(Flipped(Decoupled(new Found)))
  val expiry = IO(Input(UInt(32.W)))
  val response = IO(Decoupled(new Response))

  /** A flush is pending, and is executed if it is due; held until it has been looked at. */
  val pending = IO(Input(Bool()))
  val looked = IO(Output(Bool()))

  /** The memory port of changes. */
  val read = IO(Valid(UInt(Grain.placeBits.W)))
  val got = IO(Flipped(Valid(UInt((8 * Grain.bytes).W))))
  val write = IO(Decoupled(new GrainWrite))
  val clear = IO(Output(Bool()))
  val faulted = IO(Input(Bool()))
  val settled = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val sought = Reg(new Sought)
  private val isLook = Reg(Bool())
  private val usage = Reg(new Usage)
  private val time = Reg(UInt(32.W))
  private val status = Reg(UInt(Outcome.bits.W))
  private val counts = !isLook && sought.operation === RequestHeader.count

  found.ready := state === State.idle
  clear := found.fire
  when(state === State.idle) {
    sought := found.bits.sought
    isLook := pending
    time := expiry
    when(found.valid || pending) { state := State.usage }
  }
  read.valid := state === State.usage && !got.valid
  read.bits := Grain.usage.U
  when(state === State.usage && got.valid) {
    usage := got.bits.asTypeOf(usage)
    when(isLook) { time := got.bits.asTypeOf(usage).flushTime }
    state := State.decide
  }

  /** The next grain to be erased. */
  private val at = Reg(UInt(Grain.placeBits.W))
  private val flagged = Reg(Bool())
  when(state === State.decide) {
    at := Grain.freeHeads.U
    flagged := false.B
    state := State.erase
    when(faulted || counts) {
      state := State.settle
    }.elsewhen(time > region.time) {
      flagged := true.B
      state := Mux(isLook, State.settle, State.remember)
    }
  }
  write.valid := false.B
  write.bits.place := Grain.usage.U
  write.bits.data := 0.U
  write.bits.mask := Fill(Grain.bytes, 1.U(1.W))
  private def put(data: UInt, next: State.Type): Unit = {
    write.valid := true.B
    write.bits.data := data
    when(write.ready) { state := next }
  }
  private val isLast = RegNext(at +& 1.U === region.firstItem)
  private val ready = RegNext(state === State.erase && !write.fire, false.B)
  when(state === State.erase && ready) {
    put(0.U, Mux(isLast, State.empty, State.erase))
    write.bits.place := at
    when(write.ready) { at := at + 1.U }
  }
  when(state === State.empty) {
    val after = WireDefault(0.U.asTypeOf(new Usage))
    after.version := usage.version + !isLook
    after.used := region.firstItem
    put(after.asUInt, State.flag)
  }
  when(state === State.remember) {
    val after = WireDefault(usage)
    after.flushTime := time
    put(after.asUInt, State.flag)
  }
  when(state === State.flag) {
    put(flagged << (8 * Grain.flushByte), State.settle)
    write.bits.place := 0.U
    write.bits.mask := (BigInt(1) << Grain.flushByte).U
  }
  looked := isLook && state === State.settle && settled
  when(state === State.settle && settled) {
    status := Mux(faulted, Outcome.accessFault, Outcome.ok)
    state := Mux(isLook, State.idle, State.answer)
  }

  response.valid := state === State.answer
  response.bits := 0.U.asTypeOf(new Response)
  response.bits.version := usage.items
  response.bits.hasVersion := counts && status === Outcome.ok
  response.bits.tag := sought.tag
  response.bits.operation := sought.operation
  response.bits.status := status
  when(response.fire) { state := State.idle }
}
