package rackwright.drx

import chisel3._
import chisel3.util._

/** The lanes: operands from the scratchpad, a function, results to the scratchpad; a chunk in each cycle.
  *
  * Stages after a chunk has its reads: bytes in order, numbers, those of the [[Lane]]s, packed bytes, write. Nothing
  * stops on the way; a chunk waits before it begins for the lines it reads that an earlier one writes.
  */
class VectorUnit(params: Params) extends Module {
  private val operandCount = 3

  val chunk = IO(Flipped(Decoupled(new CheckedChunk(params))))
  val reads = IO(Vec(operandCount, Decoupled(new ScratchpadRead(params))))

  /** Of the reads of the cycle before. */
  val data = IO(Input(Vec(operandCount, UInt((8 * params.lineBytes).W))))
  val write = IO(Valid(new ScratchpadWrite(params)))

  /** No chunk is under way. */
  val empty = IO(Output(Bool()))

  /** A chunk waits for a result, or for a bank. */
  val dependencyStall = IO(Output(Bool()))
  val bankStall = IO(Output(Bool()))

  private val wanted = chunk.bits.chunk.reads
  private val requests = Seq.tabulate(operandCount)(chunk.bits.place(params, _))
  private val fetched = RegInit(VecInit.fill(operandCount)(false.B))

  // Stage by stage, the chunks under way.
  private val stages = 4 + Lane.stages
  private val valid = RegInit(VecInit.fill(stages)(false.B))
  private val under = Reg(Vec(stages, new CheckedChunk(params)))
  private val chunks = under.map(_.chunk)

  /** Lines that chunks under way write. */
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
  // A chunk that waits may be given up.
  for ((before, read) <- fetched.zip(reads)) { before := chunk.valid && !chunk.fire && (before || read.fire) }

  valid(0) := chunk.fire
  when(chunk.fire) { under(0) := chunk.bits }
  for (i <- 1 until stages) {
    valid(i) := valid(i - 1)
    when(valid(i - 1)) { under(i) := under(i - 1) }
  }
  empty := !valid.reduce(_ || _)

  // First stage: bytes. What one operand brings stays until those of the others are there.
  private val lines = reads.zip(data).map { case (read, bytes) => RegEnable(bytes, RegNext(read.fire, false.B)) }

  // Second stage: numbers.
  private val numbers = lines.zipWithIndex.map { case (line, which) =>
    val operand = chunks(1).operands(which)
    // A destination that is read is packed, or a single element.
    def element(lane: Int): UInt = Elements.load(params, line, operand, lane, strided = which < operandCount - 1)
    RegNext(VecInit.tabulate(params.lanes) { lane =>
      val shared = Mux(Elements.constant(operand), operand.address, element(0))
      Mux(Elements.same(operand), shared, element(lane))
    })
  }

  // Stages of the lanes: results. What a chunk asks of them is decoded once, before the first of them.
  private val groups = Seq.fill(params.lanes / LaneGroup.lanes)(Module(new LaneGroup))
  for ((group, i) <- groups.zipWithIndex) {
    group.control := LaneControl(chunks(1))
    group.valid := VecInit(valid.slice(1, 1 + Lane.stages))
    group.numbers := VecInit.tabulate(LaneGroup.lanes)(lane => VecInit(numbers.map(_(i * LaneGroup.lanes + lane))))
  }

  // Bytes at their place.
  private val placing = chunks(2 + Lane.stages)
  private val (packed, mask) = Elements.pack(
    groups.flatMap(_.results),
    VecInit(groups.flatMap(_.written).zipWithIndex.map { case (written, i) => written && i.U < placing.count }).asUInt,
    Elements.bytes(placing.destination.elementType)
  )
  private val placed = Wire(new ScratchpadWrite(params))
  placed.place(params, placing.destination.address, packed, mask)
  write.valid := valid(stages - 1)
  write.bits := RegNext(placed)
}
