package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.access.StreamLoader
import rackwright.port.{MemoryPort, Status}
import rackwright.stream.StreamRange

/** Copies a program to the instruction memory, one row of a beat in a cycle. */
class ProgramLoader(params: Params) extends Module {
  private val rowWords = params.portBytes * 8 / Isa.wordBits
  private val rows = params.instructions / rowWords

  /** The range of the program; accepted when no other is being loaded. */
  val start = IO(Flipped(Decoupled(new StreamRange)))

  /** The program is loaded, or cannot be read. */
  val done = IO(Valid(new Bundle {
    val status = UInt(Status.width.W)
    val instructions = UInt(params.indexBits.W)
  }))
  val write = IO(Valid(new Bundle {
    val row = UInt(log2Ceil(rows).W)
    val words = UInt((8 * params.portBytes).W)
  }))

  /** Only reads. */
  val memory = IO(new MemoryPort(params.port))
  val idle = IO(Output(Bool()))

  private val loader = Module(new StreamLoader(params.port, params.portBytes, params.port.outstanding))
  memory <> loader.memory

  private val loading = RegInit(false.B)
  private val status = Reg(UInt(Status.width.W))
  private val instructions = Reg(UInt(params.indexBits.W))
  private val row = Reg(UInt(log2Ceil(rows).W))

  private val bytes = start.bits.length
  private val tooLong = bytes > (4 * params.instructions).U
  private val ragged = bytes(1, 0) =/= 0.U || bytes === 0.U
  start.ready := !loading && loader.range.ready
  loader.range.valid := start.fire && !tooLong && !ragged
  loader.range.bits := start.bits
  private val stream = loader.stream
  private val whole = stream.available === params.portBytes.U || stream.last
  private val takes = loading && whole && stream.available =/= 0.U
  stream.consume := Mux(takes, stream.available, 0.U)
  write.valid := takes
  write.bits.row := row
  write.bits.words := stream.data.asUInt

  // The loader takes one cycle after a start to report that it is busy.
  private val settled = RegNext(!start.fire, true.B)
  loader.stop := loading && stream.fault
  done.valid := loading && settled && loader.range.ready
  done.bits.status := status
  done.bits.instructions := instructions
  idle := loader.idle && !loading

  when(loader.stop) { status := Status.accessFault }
  when(takes) { row := row + 1.U }
  when(done.valid) { loading := false.B }
  when(start.fire) {
    loading := true.B
    status := Mux(tooLong, Status.unsupported, Mux(ragged, Status.malformed, Status.ok))
    instructions := bytes >> 2
    row := 0.U
  }
}
