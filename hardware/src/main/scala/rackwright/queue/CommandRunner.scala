package rackwright.queue

import chisel3._

import rackwright.port.{Status, UnitCommand}

/** Gives a unit an element as one command, and returns its answer.
  *
  * @param opcode
  *   of the unit.
  * @param known
  *   the unit's commands; none if it does not list them: then all are given to it.
  */
class CommandRunner(opcode: Int, known: Seq[UnitCommand]) extends UnitRunner {
  private val element = descriptor.bits
  private val funct = element.destination(6, 0)
  private val asks = element.destination(7)
  private def isOneOf(commands: Seq[UnitCommand]) = commands.map(_.funct.U === funct).foldLeft(false.B)(_ || _)
  private val (answering, silent) = known.partition(_.answer.nonEmpty)
  private val isKnown = if (known.isEmpty) true.B else Mux(asks, isOneOf(answering), isOneOf(silent))
  private val understood = isKnown && element.destination(63, 8) === 0.U

  private val sent, answered = RegInit(false.B)
  private val answer = Reg(UInt(64.W))
  command.request.valid := descriptor.valid && understood && !sent
  command.request.bits.opcode := opcode.U
  command.request.bits.funct := funct
  command.request.bits.rs1 := element.source
  command.request.bits.rs2 := element.sourceBytes
  command.request.bits.rd := 0.U
  command.request.bits.xd := asks
  command.response.ready := true.B
  when(command.request.fire) {
    sent := true.B
    answer := 0.U
  }
  when(command.response.fire) {
    answered := true.B
    answer := command.response.bits.data
  }

  over := descriptor.valid && (!understood || (sent && (answered || !asks)))
  descriptor.ready := over && !hold
  when(descriptor.fire) {
    sent := false.B
    answered := false.B
  }
  ending.tag := element.tag
  ending.status := Mux(understood, Status.ok, Status.unsupported)
  ending.outputBytes := Mux(understood, answer, 0.U)
  ending.inputOffset := 0.U
  assert(!command.response.valid || asks, "the unit answers a command that asks for nothing")
}
