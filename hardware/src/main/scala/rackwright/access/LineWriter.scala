package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** A line of output to memory: the bytes selected by `mask`, byte 0 at the lowest address. */
class OutputLine(val bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val mask = UInt(bytes.W)
}

/** Writes whole lines to consecutive beats of memory. For producers that align their output themselves;
  * [[StreamWriter]] aligns it.
  *
  * @param port
  *   shape of the memory port.
  * @param outstanding
  *   writes unanswered at any time; a power of two, at most 2^tagBits.
  */
class LineWriter(port: MemoryPortParams, outstanding: Int) extends Module {

  /** The address of the first line, or one inside it; set while `quiet`. */
  val start = IO(Flipped(Valid(UInt(port.addressBits.W))))
  val line = IO(Flipped(Decoupled(new OutputLine(port.bytes))))

  /** Memory answered a write since `start` with a fault. */
  val faulted = IO(Output(Bool()))

  /** Every line taken has been answered. */
  val quiet = IO(Output(Bool()))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  private val writer = Module(new BeatWriter(port, outstanding))
  private val number = Reg(UInt((port.addressBits - port.offsetBits).W))

  writer.clear := start.valid
  writer.beat.valid := line.valid
  line.ready := writer.beat.ready
  writer.beat.bits.address := number << port.offsetBits
  writer.beat.bits.data := line.bits.data
  writer.beat.bits.mask := line.bits.mask
  when(line.fire) { number := number + 1.U }
  when(start.valid) { number := start.bits >> port.offsetBits }

  memory <> writer.memory
  faulted := writer.faulted
  quiet := writer.quiet
}
