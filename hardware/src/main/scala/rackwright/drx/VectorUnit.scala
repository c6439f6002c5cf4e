package rackwright.drx

import chisel3._
import chisel3.util._

/** The vector lanes: reads operands from the scratchpad, applies a function, and writes results to the scratchpad; one
  * chunk in each cycle.
  *
  * The stages after the reads: align the bytes, extend to numbers, the stages of the [[Lane]]s, pack to bytes, write.
  * The pipeline never stalls; a chunk waits before it enters until the lines that it reads have been written by the
  * chunks before.
  */
class VectorUnit(params: Params) extends Module {
  import VectorSlice.operandCount

  val chunk = IO(Flipped(Decoupled(new CheckedChunk(params))))
  val reads = IO(Vec(operandCount, Decoupled(new ScratchpadRead(params))))

  /** The bytes of the reads in the cycle before. */
  val data = IO(Input(Vec(operandCount, UInt((8 * params.lineBytes).W))))
  val write = IO(Valid(new ScratchpadWrite(params)))

  /** No chunk is in flight. */
  val empty = IO(Output(Bool()))

  /** A chunk is waiting for an earlier result, or for a bank. */
  val dependencyStall = IO(Output(Bool()))
  val bankStall = IO(Output(Bool()))

  private val wanted = chunk.bits.chunk.reads
  private val requests = Seq.tabulate(operandCount)(chunk.bits.place(params, _))
  private val fetched = RegInit(VecInit.fill(operandCount)(false.B))

  // The chunks in the pipeline, by stage.
  private val stages = 4 + Lane.stages
  private val valid = RegInit(VecInit.fill(stages)(false.B))
  private val under = Reg(Vec(stages, new CheckedChunk(params)))
  private val chunks = under.map(_.chunk)

  /** Whether a chunk in the pipeline writes a line of this read. */
  private def hazard(read: ScratchpadRead): Bool = VecInit(valid.zip(under).map { case (there, of) =>
    there && read.meets(of.place(params, operandCount - 1))
  }).asUInt.orR

  private val waits = requests.zip(wanted).map { case (read, want) => want && hazard(read) }.reduce(_ || _)
  private val served = reads.zip(wanted).zip(fetched).map { case ((read, want), before) =>
    !want || before || read.ready
  }
  for ((((read, request), want), before) <- reads.zip(requests).zip(wanted).zip(fetched)) {
    read.valid := chunk.valid && want && !before && !waits
    read.bits := request
  }
  chunk.ready := !waits && served.reduce(_ && _)
  dependencyStall := chunk.valid && waits
  bankStall := chunk.valid && !waits && !chunk.ready
  // A waiting chunk may be abandoned.
  for ((before, read) <- fetched.zip(reads)) { before := chunk.valid && !chunk.fire && (before || read.fire) }

  valid(0) := chunk.fire
  when(chunk.fire) { under(0) := chunk.bits }
  for (i <- 1 until stages) {
    valid(i) := valid(i - 1)
    when(valid(i - 1)) { under(i) := under(i - 1) }
  }
  empty := !valid.reduce(_ || _)

  // First stage: bytes. Those of one operand are held until those of the others have been read.
  private val lines = reads.zip(data).map { case (read, bytes) => RegEnable(bytes, RegNext(read.fire, false.B)) }

  // Second stage: numbers, and then the stages of the lanes. Their control signals are decoded once, before the first
  // of them; how operands are read is decoded in the first stage. Slices compute in each cycle, as whether there is a
  // chunk would take long to reach all of them; without one, these signals do not change.
  private val slices = Seq.fill(params.lanes / LaneGroup.lanes)(Module(new VectorSlice))
  private val operands = VecInit(chunks(0).operands.map(OperandControl(_, chunks(0).packing)))
  private val shared = VecInit(chunks(1).operands.zip(slices.head.first).map { case (operand, first) =>
    Packing.spread(chunks(1).packing, Mux(Elements.constant(operand), operand.address, first))
  })
  private val control = LaneControl(chunks(1))
  for ((slice, i) <- slices.zipWithIndex) {
    // A destination that is read is contiguous, or a single element.
    def bytes(line: UInt, strided: Boolean): Vec[LaneBytes] =
      VecInit.tabulate(LaneGroup.lanes)(lane => LaneBytes(params, line, i * LaneGroup.lanes + lane, strided))
    slice.operands := operands
    slice.sources := VecInit(lines.init.map(bytes(_, strided = true)))
    slice.destination := bytes(lines.last, strided = false)
    slice.shared := shared
    slice.control := control
  }

  private val alignment = Module(new ResultAlignment(params))
  private val placing = chunks(2 + Lane.stages)
  alignment.results := VecInit(slices.flatMap(_.results))
  alignment.written := VecInit(slices.flatMap(_.written))
  alignment.count := placing.count
  alignment.packing := placing.packing
  alignment.destination := placing.destination
  write.valid := valid(stages - 1)
  write.bits := alignment.write
}
