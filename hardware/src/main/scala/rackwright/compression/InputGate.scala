package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.operation.InputExtension
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.stream.StreamRange

/** Delays a compressor's reads of input that has not arrived yet, if it arrives in pieces.
  *
  * Beats are requested in the order of their addresses, so that counting them is sufficient.
  *
  * @param port
  *   shape of the memory port.
  */
class InputGate(port: MemoryPortParams) extends Module {

  /** An operation starts, with this input; none of it is available yet if it arrives in pieces. */
  val begin = IO(Flipped(Valid(new StreamRange)))
  val inPieces = IO(Input(Bool()))

  /** It is in progress. */
  val running = IO(Input(Bool()))

  /** More of the input is available: this number of bytes, or all of it. Taken while that is not all. */
  val extension = IO(Flipped(Decoupled(new InputExtension)))

  /** The reads, and those that are allowed. */
  val reads = IO(Flipped(new MemoryPort(port)))
  val memory = IO(new MemoryPort(port))

  private val gated = RegInit(false.B)
  private val range = Reg(new StreamRange)
  private val there = Reg(UInt(64.W))

  // The sum is known a cycle late, its evaluation another cycle later.
  private val added = RegNext(extension.fire, false.B)
  private val sum = RegEnable(there +& extension.bits.bytes, extension.fire)
  private val whole = RegEnable(extension.bits.last, extension.fire)
  private val judged = RegNext(added, false.B)
  private val complete = RegNext(whole || sum >= range.length)
  extension.ready := running && gated && !added && !judged
  when(added) { there := sum(63, 0) }
  when(judged && complete) { gated := false.B }

  private val beatBits = port.addressBits - port.offsetBits + 1
  private val beats = RegNext((range.address(port.offsetBits - 1, 0) +& there) >> port.offsetBits)
  private val asked = Reg(UInt(beatBits.W))
  private val next = asked + memory.request.fire
  private val allowed = RegInit(false.B)
  asked := next
  allowed := next < beats

  memory <> reads
  private val pass = !gated || allowed
  memory.request.valid := reads.request.valid && pass
  reads.request.ready := memory.request.ready && pass

  when(begin.valid) {
    gated := inPieces
    range := begin.bits
    there := 0.U
    asked := 0.U
    allowed := false.B
  }
  // The state of the previous operation is invalid for two cycles.
  private val fresh = RegNext(begin.valid, false.B)
  when(fresh || RegNext(fresh, false.B)) { allowed := false.B }
}
