package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile
import rackwright.port.MemoryPort
import rackwright.stream.{Lines, SkidBuffer}

/** Copies ranges of memory to the scratchpad: requests one beat in each cycle, and accepts responses in any order. */
class LoadEngine(params: Params) extends Module {
  private val port = params.port

  val transfer = IO(Flipped(Decoupled(new Transfer(params))))

  /** Stops issuing requests; outstanding responses are awaited. */
  val clear = IO(Input(Bool()))
  val memory = IO(new MemoryPort(port))
  val write = IO(Decoupled(new ScratchpadWrite(params)))
  val report = IO(Output(new TransferReport(params)))

  /** No transfer is waiting, and no beat is outstanding. */
  val idle = IO(Output(Bool()))

  private val cutter = Module(new TransferCutter(params))
  private val ring = Module(new BeatRing(port.outstanding))
  private val asked = RegisterFile(port.outstanding, new TransferBeat(params))
  cutter.transfer <> transfer
  cutter.clear := clear

  memory.request.valid := cutter.beat.valid && ring.allocate.valid
  cutter.beat.ready := memory.request.ready && ring.allocate.valid
  ring.allocate.ready := memory.request.ready && cutter.beat.valid
  ring.last := cutter.beat.bits.last
  memory.request.bits.read(cutter.beat.bits.beat << port.offsetBits, ring.allocate.bits)
  when(cutter.beat.fire) { asked.write(ring.allocate.bits, cutter.beat.bits) }

  // First stage: the response, with the information of its request.
  private val answer = SkidBuffer(memory.response)
  private val beat = asked.read(answer.bits.tag)

  // Second stage: aligns its bytes.
  private val placed = Wire(Decoupled(new LoadedBeat(params)))
  placed.valid := answer.valid
  answer.ready := placed.ready
  placed.bits.tag := answer.bits.tag
  placed.bits.index := beat.index
  placed.bits.fault := answer.bits.fault
  private val bytes = (answer.bits.data >> Cat(beat.offset, 0.U(3.W))).pad(8 * params.lineBytes)
  private val mask = Lines.mask(beat.count, params.portBytes).pad(params.lineBytes)
  placed.bits.write.place(params, beat.place, bytes, mask)()

  // Breaks the path of the ready signal from the scratchpad's bank conflicts to the memory port.
  private val ready = SkidBuffer(placed)
  write.valid := ready.valid && !ready.bits.fault
  write.bits := ready.bits.write
  ready.ready := write.ready || ready.bits.fault
  ring.done.valid := ready.fire
  ring.done.bits := ready.bits.tag

  report.ended := ring.ended
  report.fault := ready.fire && ready.bits.fault
  report.index := ready.bits.index
  idle := cutter.empty && ring.empty
}

/** A received beat to write into the scratchpad. */
class LoadedBeat(params: Params) extends Bundle {
  val write = new ScratchpadWrite(params)
  val tag = UInt(params.port.tagBits.W)
  val index = UInt(params.indexBits.W)
  val fault = Bool()
}
