package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.access.{BeatWriter, WriteBeat}
import rackwright.port.MemoryPort

/** A grain to write: the bytes named by `mask`. */
class GrainWrite extends Bundle {
  val place = UInt(Grain.placeBits.W)
  val data = UInt((8 * Grain.bytes).W)
  val mask = UInt(Grain.bytes.W)
}

object GrainWrite {

  /** The byte mask of a 4-byte word in its grain, which has eight of them. */
  def lane(number: UInt): UInt = FillInterleaved(4, UIntToOH(number, 8))
}

/** The memory port of changes: reads one grain at a time, and writes grains in order. */
class ChangeMemory(params: Params) extends Module {
  val base = IO(Input(UInt(64.W)))

  /** Held until `answer` is valid. */
  val read = IO(Flipped(Valid(UInt(Grain.placeBits.W))))
  val answer = IO(Valid(UInt((8 * Grain.bytes).W)))
  val write = IO(Flipped(Decoupled(new GrainWrite)))

  /** Memory has refused an access since `clear`. */
  val clear = IO(Input(Bool()))
  val faulted = IO(Output(Bool()))

  /** Every write has been answered. */
  val settled = IO(Output(Bool()))
  val reads = IO(new MemoryPort(params.index))
  val writes = IO(new MemoryPort(params.index))

  private object State extends ChiselEnum {
    val idle, asks, waits, there = Value
  }
  private val state = RegInit(State.idle)
  private val address = Reg(UInt(64.W))
  private val data = Reg(UInt((8 * Grain.bytes).W))
  private val refused = RegInit(false.B)
  reads.request.valid := state === State.asks
  reads.request.bits.read(address, 0.U)
  reads.response.ready := true.B
  answer.valid := state === State.there
  answer.bits := data
  switch(state) {
    is(State.idle) {
      address := Grain.address(base, read.bits)
      when(read.valid) { state := State.asks }
    }
    is(State.asks) { when(reads.request.ready) { state := State.waits } }
    is(State.waits) { when(reads.response.valid) { state := State.there } }
    is(State.there) { state := State.idle }
  }
  when(reads.response.valid) {
    data := reads.response.bits.data
    refused := refused || reads.response.bits.fault
  }
  when(clear) { refused := false.B }

  private val writer = Module(new BeatWriter(params.index, params.lookups))
  private val asked = Queue(write, 1, pipe = true)
  private val placed = Module(new Queue(new WriteBeat(params.index), 1, pipe = true))
  placed.io.enq.valid := asked.valid
  asked.ready := placed.io.enq.ready
  placed.io.enq.bits.address := Grain.address(base, asked.bits.place)
  placed.io.enq.bits.data := asked.bits.data
  placed.io.enq.bits.mask := asked.bits.mask
  writer.beat <> placed.io.deq
  writer.clear := clear
  writes <> writer.memory
  settled := !asked.valid && !placed.io.deq.valid && writer.quiet
  faulted := refused || writer.faulted
}
