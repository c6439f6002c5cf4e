package example

import chisel3._
import chisel3.util._

import rackwright.access.StreamLoader
import rackwright.port.{CommandList, CommandSet, MemoryPortParams, Status, UnitCommand}
import rackwright.unit.HardwareUnit

/** Counts the one bits of a buffer in memory, 16 bytes per cycle.
  *
  * A command is taken when the one before it has ended, so RESULT waits.
  */
class PopulationCount extends HardwareUnit {
  private val port = MemoryPortParams(bytes = 16, tagBits = 4)

  val command = commandPort(CommandSet(PopulationCountCommands.commands), 3)
  val read = memoryPort(port)
  val idle = idlePort()

  private val loader = Module(new StreamLoader(port, streamBytes = port.bytes, outstanding = port.outstanding))
  read <> loader.memory

  private val working = RegInit(false.B)
  private val total = RegInit(0.U(64.W))
  private val status = RegInit(Status.ok)
  private val answer = RegInit(0.U.asTypeOf(Valid(chiselTypeOf(command.response.bits))))

  private val asked = command.request.bits
  private val counts = command.request.fire && asked.funct === PopulationCountCommands.count.funct.U
  idle := !working && !answer.valid && loader.idle
  command.request.ready := idle && loader.range.ready

  loader.range.valid := counts
  loader.range.bits.address := asked.rs1
  loader.range.bits.length := asked.rs2
  loader.stop := working && loader.stream.fault
  when(counts) {
    working := true.B
    total := 0.U
    status := Status.ok
  }

  // All that is offered is taken: the order of bytes does not matter for their sum, but it comes for free.
  private val stream = loader.stream
  stream.consume := Mux(working, stream.available, 0.U)
  private val ones = stream.data.zipWithIndex.map { case (byte, i) =>
    Mux(i.U < stream.available, PopCount(byte), 0.U)
  }
  event("bytes", stream.consume)
  when(working) {
    total := total + ones.reduce(_ +& _)
    when(stream.fault) { status := Status.accessFault }
    when(stream.fault || (stream.last && loader.idle)) { working := false.B }
  }

  when(command.response.ready) { answer.valid := false.B }
  when(command.request.fire && asked.xd) {
    answer.valid := true.B
    answer.bits.rd := asked.rd
    answer.bits.data := MuxLookup(asked.funct, ~0.U(64.W))(
      Seq(
        PopulationCountCommands.result.funct.U -> total,
        PopulationCountCommands.status.funct.U -> status
      )
    )
  }
  command.response.valid := answer.valid
  command.response.bits := answer.bits
}

/** What software is told of it: `rw units manifest.json --header` makes constants for C of them. */
object PopulationCountCommands extends CommandList {
  val count: UnitCommand = command("count", 0, "address", "bytes")
  val result: UnitCommand = command("result", 1, answer = "the count, when it has ended")
  val status: UnitCommand = command("status", 2, answer = "how the last count ended")
}
