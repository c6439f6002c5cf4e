package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** Makes the DMA of a run, one request after another, and says what became of it. */
class TrafficGenerator(params: Params) extends Module {
  val settings = IO(Input(new TrafficSettings))

  /** A run begins: of writes, or of reads. */
  val begin = IO(Flipped(Valid(Bool())))
  val read = IO(Decoupled(new DmaRequest))
  val readBeat = IO(Flipped(Decoupled(new ReadBeat)))
  val write = IO(Decoupled(new DmaRequest))
  val writeData = IO(Decoupled(UInt((8 * Params.beatBytes).W)))
  val written = IO(Input(Bool()))
  val busy = IO(Output(Bool()))

  /** A request has been issued; one is done, the oldest. */
  val issued = IO(Output(Bool()))
  val done = IO(Output(Bool()))

  /** A beat that was read: the sum of its words, and whether there was a fault. */
  val took = IO(Valid(UInt(64.W)))
  val fault = IO(Output(Bool()))

  private val running = RegInit(false.B)
  private val writes = Reg(Bool())
  private val left = RegInit(0.U(32.W))
  private val offset = Reg(UInt(64.W))
  private val flying = RegInit(0.U(16.W))
  private val pause = RegInit(0.U(16.W))
  private val failed = RegInit(false.B)

  // Requests. A run whose first data could not be read asks for no more.
  private val next = Wire(new DmaRequest)
  next.address := settings.base + offset
  next.bytes := settings.size
  private val goes = running && left =/= 0.U && !failed && pause === 0.U &&
    flying =/= settings.outstanding && flying =/= Traffic.outstanding.U
  read.valid := goes && !writes
  read.bits := next
  private val patterns = Module(new Queue(new DmaRequest, 2))
  write.valid := goes && writes && patterns.io.enq.ready
  write.bits := next
  patterns.io.enq.valid := write.fire
  patterns.io.enq.bits := next
  issued := read.fire || write.fire
  when(issued) {
    left := left - 1.U
    offset := (offset + settings.stride) & settings.mask
  }
  pause := Mux(issued && settings.interval =/= 0.U, settings.interval - 1.U, Mux(pause === 0.U, 0.U, pause - 1.U))
  flying := flying + issued - done

  // What is read, a beat every so many cycles; each has passed a register before it is summed.
  private val copy = Module(new Pacer)
  copy.interval := settings.copy
  readBeat.ready := copy.open
  private val taken = SkidBuffer(gated(readBeat, copy.open))
  taken.ready := true.B
  took.valid := taken.valid
  took.bits := taken.bits.data(63, 0) + taken.bits.data(127, 64)
  fault := taken.valid && taken.bits.fault
  when(fault) { failed := true.B }

  // What is written: each word is its address and the seed.
  private val source = Module(new PatternSource)
  source.range <> patterns.io.deq
  source.seed := settings.seed
  writeData.valid := source.beat.valid && copy.open
  writeData.bits := source.beat.bits
  source.beat.ready := writeData.ready && copy.open
  copy.passes := writeData.fire || readBeat.fire

  done := Mux(writes, written, taken.valid && taken.bits.last)
  when(begin.valid) {
    running := true.B
    writes := begin.bits
    left := settings.count
    offset := 0.U
    failed := false.B
  }.elsewhen(running && (left === 0.U || failed) && flying === 0.U) { running := false.B }
  busy := running

  private def gated(from: DecoupledIO[ReadBeat], open: Bool): DecoupledIO[ReadBeat] = {
    val to = Wire(Decoupled(new ReadBeat))
    to.valid := from.valid && open
    to.bits := from.bits
    from.ready := to.ready && open
    to
  }
}

/** Lets something pass every `interval` cycles at most; 0 and 1 let it pass in every one. */
class Pacer extends Module {
  val interval = IO(Input(UInt(16.W)))
  val open = IO(Output(Bool()))
  val passes = IO(Input(Bool()))
  private val left = RegInit(0.U(16.W))
  open := left === 0.U
  left := Mux(passes && interval > 1.U, interval - 1.U, Mux(open, 0.U, left - 1.U))
}

/** The data of writes: each word of eight bytes is its address and the seed. */
class PatternSource extends Module {
  val range = IO(Flipped(Decoupled(new DmaRequest)))
  val seed = IO(Input(UInt(64.W)))
  val beat = IO(Decoupled(UInt((8 * Params.beatBytes).W)))

  private val word = Reg(UInt(64.W))
  private val left = RegInit(0.U(32.W))
  range.ready := left === 0.U
  when(range.fire) {
    word := range.bits.address + seed
    left := range.bits.bytes >> log2Ceil(Params.beatBytes)
  }
  beat.valid := left =/= 0.U
  beat.bits := Cat(word + 8.U, word)
  when(beat.fire) {
    word := word + Params.beatBytes.U
    left := left - 1.U
  }
}
