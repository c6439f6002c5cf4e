package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.MemoryPortParams

/** Takes requests through the unit: one is read while the writes of the one before are being answered. */
class DeserializerControl(port: MemoryPortParams) extends Module {
  import DeserializerControl.State

  val request = IO(Flipped(Decoupled(new DeserializerRequest)))

  /** To the box that reads messages, and how it ended. */
  val start = IO(Valid(new FieldsStart))
  val ended = IO(Flipped(Valid(new FieldsEnd)))
  val arena = IO(Output(UInt(64.W)))

  /** To the input: its next range; give up what is left of it. */
  val begin = IO(Flipped(new Bundle {
    val valid = Input(Bool())
    val ready = Output(Bool())
  }))
  val stop = IO(Output(Bool()))

  val regions = IO(Valid(new RegionBounds))
  val heads = IO(Input(new RegionHeads))

  /** Which of two groups the stores of now belong to. */
  val turn = IO(Output(UInt(1.W)))

  /** Hand on all stores. */
  val drain = IO(Output(Bool()))

  /** The half of a record that says where the regions are filled up to. */
  val store = IO(Decoupled(new Store(port)))

  /** One per request, in order, when all its stores have been given. */
  val completion = IO(Decoupled(new ProtobufCompletion))

  /** The group's former request has completed. */
  val turnFree = IO(Input(Bool()))

  val idle = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val now = Reg(new DeserializerRequest)
  private val end = Reg(new FieldsEnd)
  private val group = RegInit(0.U(1.W))
  turn := group
  arena := now.arena
  idle := state === State.idle

  private val reads = request.bits.verdict === Status.ok && request.bits.message.length =/= 0.U
  request.ready := state === State.idle && turnFree && (!reads || begin.ready)
  begin.valid := request.fire && reads
  start.valid := request.fire && reads
  start.bits := request.bits.message
  regions.valid := request.fire && request.bits.regions.valid
  regions.bits := request.bits.regions.bits

  private val hasRecord = now.record =/= 0.U
  store.valid := state === State.recording && hasRecord
  store.bits := Store.line(
    port,
    now.record(DescriptorTable.addressBits - 1, 0) + 16.U,
    Cat(heads.arrays.pad(64), heads.objects.pad(64))
  )
  completion.valid := state === State.completing
  completion.bits.record := now.record
  completion.bits.status := end.status
  completion.bits.word1 := end.offset
  completion.bits.turn := group
  drain := state === State.completing || state === State.idle
  stop := ended.valid && ended.bits.status =/= Status.ok

  when(request.fire) {
    now := request.bits
    end.status := request.bits.verdict
    end.offset := 0.U
    state := Mux(reads, State.reading, State.recording)
  }
  when(ended.valid) {
    end := ended.bits
    state := State.recording
  }
  when(state === State.recording && (store.ready || !hasRecord)) { state := State.completing }
  when(completion.fire) {
    state := State.idle
    group := ~group
  }
}

/** The states of a [[DeserializerControl]]. */
object DeserializerControl {
  object State extends ChiselEnum {
    val idle, reading, recording, completing = Value
  }
}
