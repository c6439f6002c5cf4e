package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.{TagAllocator, WriteBeat}
import rackwright.memory.RegisterFile
import rackwright.port.{MemoryPort, MemoryPortParams}

/** A beat to write, and its write group. */
class GroupedBeat(port: MemoryPortParams, groups: Int) extends Bundle {
  val beat = new WriteBeat(port)
  val group = UInt(log2Ceil(groups).W)
}

/** Writes beats from several sources, and tracks for each group of writes whether all have been answered.
  *
  * @param port
  *   parameters of the memory port.
  * @param groups
  *   number of groups.
  * @param sources
  *   number of sources of beats; the first one has precedence.
  */
class GroupedWrites(port: MemoryPortParams, groups: Int, sources: Int) extends Module {
  private val groupBits = log2Ceil(groups)

  /** Beats to write; counted when they are accepted. */
  val beats = IO(Vec(sources, Flipped(Decoupled(new GroupedBeat(port, groups)))))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  /** Every write of this group has been answered; one of them with a fault. */
  val group = IO(Input(UInt(groupBits.W)))
  val quiet = IO(Output(Bool()))
  val faulty = IO(Output(Bool()))

  /** Every write of all groups has been answered. */
  val settled = IO(Output(Bool()))

  /** The group has ended: it may be used again. */
  val release = IO(Input(Bool()))

  private val tags = Module(new TagAllocator(port.outstanding))
  private val groupOf = RegisterFile(port.outstanding, UInt(groupBits.W))
  private val unanswered = RegInit(VecInit.fill(groups)(0.U((port.tagBits + 2).W)))
  private val faults = RegInit(VecInit.fill(groups)(false.B))

  private val chosen = Module(new Arbiter(new GroupedBeat(port, groups), sources))
  chosen.io.in.zip(beats).foreach { case (in, source) => in <> Queue(source, 2) }
  private val next = chosen.io.out
  next.ready := memory.request.ready && tags.allocate.valid
  tags.allocate.ready := memory.request.ready && next.valid
  memory.request.valid := next.valid && tags.allocate.valid
  memory.request.bits.address := next.bits.beat.address
  memory.request.bits.write := true.B
  memory.request.bits.data := next.bits.beat.data
  memory.request.bits.mask := next.bits.beat.mask
  memory.request.bits.tag := tags.allocate.bits
  when(memory.request.fire) { groupOf.write(tags.allocate.bits, next.bits.group) }

  memory.response.ready := true.B
  tags.free.valid := memory.response.valid
  tags.free.bits := memory.response.bits.tag

  // Requests and responses are counted one cycle later.
  private val came = RegNext(memory.response.valid, false.B)
  private val cameFault = RegNext(memory.response.bits.fault)
  private val answered = RegNext(groupOf.read(memory.response.bits.tag))
  private val taken = beats.map(source => RegNext(source.fire, false.B))
  private val takenBy = beats.map(source => RegNext(source.bits.group))
  private val counts = taken.reduce(_ || _)
  for (index <- 0 until groups) {
    val asked = PopCount(taken.zip(takenBy).map { case (fires, group) => fires && group === index.U })
    val comes = came && answered === index.U
    unanswered(index) := unanswered(index) + asked - comes
    when(comes && cameFault) { faults(index) := true.B }
  }
  private val countsHere = taken.zip(takenBy).map { case (fires, by) => fires && by === group }.reduce(_ || _)
  quiet := unanswered(group) === 0.U && !countsHere
  settled := unanswered.map(_ === 0.U).reduce(_ && _) && !counts
  faulty := faults(group)
  when(release) { faults(group) := false.B }
}
