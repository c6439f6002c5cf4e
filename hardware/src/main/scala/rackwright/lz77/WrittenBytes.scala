package rackwright.lz77

import chisel3._
import chisel3.util._

import rackwright.memory.{MemoryPort, MemoryPortParams}

/** Counts the bytes of a stream, from its first on, that memory has answered as written, by watching the port of its
  * writer.
  *
  * Relies on the writer asking for whole beats in address order with tags that go round as a ring, as `StreamWriter`
  * does. The last beat of a stream counts as a whole one, however little of it was written.
  *
  * @param port
  *   shape of the watched port.
  * @param tags
  *   number of tags in the writer's ring, a power of two.
  */
class WrittenBytes(port: MemoryPortParams, tags: Int) extends Module {
  private val tagBits = log2Ceil(tags)

  /** A stream begins, `offset` bytes into its first beat. */
  val start = IO(Flipped(Valid(UInt(port.offsetBits.W))))
  val watched = IO(Input(new MemoryPortActivity(port)))
  val bytes = IO(Output(UInt(33.W)))

  private val answered = RegInit(0.U(tags.W))
  private val oldest = RegInit(0.U(tagBits.W))
  private val count = RegInit(0.U(33.W))
  private val first = Reg(UInt(port.offsetBits.W))

  private val advance = answered(oldest)
  private val arrived = Mux(watched.answered, UIntToOH(watched.tag(tagBits - 1, 0), tags), 0.U)
  answered := (answered | arrived) & ~Mux(advance, UIntToOH(oldest, tags), 0.U)
  when(advance) {
    oldest := oldest + 1.U
    count := count + port.bytes.U - first
    first := 0.U
  }
  when(start.valid) {
    count := 0.U
    first := start.bits
  }
  bytes := count
}

/** The answers seen on a memory port. */
class MemoryPortActivity(port: MemoryPortParams) extends Bundle {
  val answered = Bool()
  val tag = UInt(port.tagBits.W)

  /** Watches `memory`. */
  def watch(memory: MemoryPort): Unit = {
    answered := memory.response.valid && memory.response.ready
    tag := memory.response.bits.tag
  }
}
