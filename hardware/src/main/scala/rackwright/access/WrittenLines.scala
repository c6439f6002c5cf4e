package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** Counts the lines of a stream, from its first on, that memory has answered as written, by watching the port of its
  * writer.
  *
  * Relies on the writer asking for lines in address order with tags that go round as a ring, as `LineWriter` does.
  *
  * @param port
  *   shape of the watched port.
  * @param tags
  *   number of tags in the writer's ring, a power of two.
  */
class WrittenLines(port: MemoryPortParams, tags: Int) extends Module {
  private val tagBits = log2Ceil(tags)

  /** A stream begins; when `settled`. */
  val start = IO(Input(Bool()))
  val watched = IO(Input(new MemoryPortActivity(port)))
  val lines = IO(Output(UInt(28.W)))

  /** Every line that was answered has been counted. */
  val settled = IO(Output(Bool()))

  private val answered = RegInit(0.U(tags.W))
  private val oldest = RegInit(0.U(tagBits.W))
  private val count = RegInit(0.U(28.W))

  private val advance = answered(oldest)
  private val arrived = Mux(watched.answered, UIntToOH(watched.tag(tagBits - 1, 0), tags), 0.U)
  answered := (answered | arrived) & ~Mux(advance, UIntToOH(oldest, tags), 0.U)
  when(advance) {
    oldest := oldest + 1.U
    count := count + 1.U
  }
  when(start) { count := 0.U }
  lines := count
  settled := !answered.orR
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
