package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile
import rackwright.port.MemoryPort
import rackwright.stream.{Lines, SkidBuffer}

/** Copies bytes of the scratchpad to memory: reads and writes one beat in each cycle. */
class StoreEngine(params: Params) extends Module {
  import StoreEngine.waiting

  private val port = params.port

  val transfer = IO(Flipped(Decoupled(new Transfer(params))))

  /** Stops reading the scratchpad; outstanding responses are awaited. */
  val clear = IO(Input(Bool()))
  val memory = IO(new MemoryPort(port))
  val read = IO(Decoupled(new ScratchpadRead(params)))

  /** The bytes of the read in the cycle before, from `place` on: where they are in their beat. */
  val data = IO(Input(UInt((8 * params.lineBytes).W)))
  val place = IO(Output(UInt(params.offsetBits.W)))
  val report = IO(Output(new TransferReport(params)))

  /** No transfer is waiting, and no beat is in flight. */
  val idle = IO(Output(Bool()))

  private val cutter = Module(new TransferCutter(params))
  private val ring = Module(new BeatRing(port.outstanding))
  private val asked = RegisterFile(port.outstanding, UInt(params.indexBits.W))
  private val beats = Module(new Queue(new StoredBeat(params), waiting))
  cutter.transfer <> transfer
  cutter.clear := clear

  // The scratchpad address of a beat is registered, since other accesses to its line stall on it.
  private val cut = Wire(Decoupled(new PlacedBeat(params)))
  cut.valid := cutter.beat.valid
  cutter.beat.ready := cut.ready
  cut.bits.beat := cutter.beat.bits
  cut.bits.lastLine := (cutter.beat.bits.place + cutter.beat.bits.count - 1.U) >> params.offsetBits
  private val placed = SkidBuffer(cut, clear)

  // A beat is read when the output buffer has space for it.
  private val reading = RegNext(read.fire, false.B)
  private val room = beats.io.count +& reading < waiting.U
  read.valid := placed.valid && room
  placed.ready := read.ready && room
  read.bits.address := placed.bits.beat.place
  read.bits.lastLine := placed.bits.lastLine

  private val beat = RegEnable(placed.bits.beat, read.fire)
  beats.io.enq.valid := reading
  beats.io.enq.bits.beat := beat
  place := beat.offset
  private val before = Lines.mask(beat.offset, port.bytes)
  beats.io.enq.bits.data :=
    VecInit.tabulate(port.bytes)(i => data(8 * i + 7, 8 * i) & Fill(8, !before(i))).asUInt
  assert(!reading || beats.io.enq.ready, "a beat that was read has no place")

  private val oldest = beats.io.deq
  memory.request.valid := oldest.valid && ring.allocate.valid
  oldest.ready := memory.request.ready && ring.allocate.valid
  ring.allocate.ready := memory.request.ready && oldest.valid
  ring.last := oldest.bits.beat.last
  memory.request.bits.address := oldest.bits.beat.beat << port.offsetBits
  memory.request.bits.write := true.B
  memory.request.bits.data := oldest.bits.data
  memory.request.bits.mask :=
    (Lines.mask(oldest.bits.beat.count, port.bytes) << oldest.bits.beat.offset)(port.bytes - 1, 0)
  memory.request.bits.tag := ring.allocate.bits
  when(oldest.fire) { asked.write(ring.allocate.bits, oldest.bits.beat.index) }

  memory.response.ready := true.B
  ring.done.valid := memory.response.valid
  ring.done.bits := memory.response.bits.tag
  report.ended := ring.ended
  report.fault := memory.response.valid && memory.response.bits.fault
  report.index := asked.read(memory.response.bits.tag)
  idle := cutter.empty && !placed.valid && ring.empty && !reading && !beats.io.deq.valid
}

/** A beat with the last scratchpad line that it reaches. */
class PlacedBeat(params: Params) extends Bundle {
  val beat = new TransferBeat(params)
  val lastLine = UInt(params.lineBits.W)
}

/** A beat read from the scratchpad, with its bytes aligned. */
class StoredBeat(params: Params) extends Bundle {
  val beat = new TransferBeat(params)
  val data = UInt((8 * params.portBytes).W)
}

/** Constants of the structure. */
object StoreEngine {

  /** Capacity of the output buffer in beats. */
  val waiting: Int = 4
}
