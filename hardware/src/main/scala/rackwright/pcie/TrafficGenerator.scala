package rackwright.pcie

import chisel3._
import chisel3.util._

/** Executes the DMA of a run, one request after another, and reports the results. */
class TrafficGenerator(params: Params) extends Module {
  val settings = IO(Input(new TrafficSettings))

  /** A run begins: of writes, or of reads. */
  val begin = IO(Flipped(Valid(Bool())))

  /** The run makes no more requests. */
  val stop = IO(Input(Bool()))
  val read = IO(Decoupled(new DmaRequest))
  val readBeat = IO(Flipped(Decoupled(new ReadBeat)))
  val write = IO(Decoupled(new DmaRequest))
  val writeData = IO(Decoupled(UInt((8 * Params.beatBytes).W)))
  val written = IO(Input(Bool()))
  val busy = IO(Output(Bool()))

  /** The run ends in this cycle. */
  val ends = IO(Output(Bool()))

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

  // Requests. A run whose first data could not be read sends no further requests.
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

  // Data are summed when they arrive, and copied when the last of a request has arrived.
  readBeat.ready := true.B
  private val taken = RegNext(readBeat.valid, false.B)
  private val beat = RegNext(readBeat.bits)
  took.valid := taken
  took.bits := beat.data(63, 0) + beat.data(127, 64)
  fault := taken && beat.fault
  when(fault) { failed := true.B }
  private val copier = Module(new Copier)
  copier.interval := settings.copy
  copier.beats := settings.size >> log2Ceil(Params.beatBytes)
  copier.arrived := taken && beat.last

  // Data to write are generated before: each word is its address plus the seed.
  private val source = Module(new PatternSource)
  private val pacer = Module(new Pacer)
  source.range <> patterns.io.deq
  source.seed := settings.seed
  writeData.valid := source.beat.valid && pacer.open
  writeData.bits := source.beat.bits
  source.beat.ready := writeData.ready && pacer.open
  pacer.interval := settings.copy
  pacer.passes := writeData.fire

  ends := running && (left === 0.U || failed) && flying === 0.U
  done := Mux(writes, written, copier.done)
  when(begin.valid) {
    running := true.B
    writes := begin.bits
    left := settings.count
    offset := 0.U
    failed := false.B
  }.otherwise {
    when(stop) { left := 0.U }
    when(ends) { running := false.B }
  }
  busy := running
}

/** Copies the data of requests, one request after the other, `interval` cycles for each of its `beats`; with an
  * interval of 0 nothing is copied. Cards do so that receive into one memory and keep data in another.
  */
class Copier extends Module {
  val interval = IO(Input(UInt(16.W)))
  val beats = IO(Input(UInt(28.W)))

  /** The data of a request have arrived; those of the oldest have been copied. */
  val arrived = IO(Input(Bool()))
  val done = IO(Output(Bool()))

  private val waiting = RegInit(0.U(16.W))
  private val copied = RegInit(0.U(28.W))
  private val spent = RegInit(0.U(16.W))
  private val active = waiting =/= 0.U
  private val endsBeat = active && spent + 1.U === interval
  private val endsRequest = endsBeat && copied + 1.U === beats
  when(active) { spent := Mux(endsBeat, 0.U, spent + 1.U) }
  when(endsBeat) { copied := Mux(endsRequest, 0.U, copied + 1.U) }
  waiting := waiting + (arrived && interval =/= 0.U) - endsRequest
  done := Mux(interval === 0.U, arrived, endsRequest)
}

/** Limits a flow to one item per `interval` cycles; 0 and 1 mean no limit. */
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
