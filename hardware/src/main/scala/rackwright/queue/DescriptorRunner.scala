package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.operation.StreamCommands
import rackwright.port.UnitCommand

/** Executes a descriptor on a streaming unit by its commands, and returns the result.
  *
  * @param opcode
  *   of the unit.
  */
class DescriptorRunner(opcode: Int) extends UnitRunner {
  private val asks = descriptor.bits
  private val steps: Seq[(UnitCommand, UInt, UInt, Boolean)] = Seq(
    (StreamCommands.source, asks.source, asks.sourceBytes, false),
    (StreamCommands.limit, asks.capacity, 0.U, false),
    (StreamCommands.destinationAndStart, asks.destination, 0.U, false),
    (StreamCommands.checkCompletion, 0.U, 0.U, true),
    (StreamCommands.status, 0.U, 0.U, true),
    (StreamCommands.outputBytes, 0.U, 0.U, true),
    (StreamCommands.inputOffset, 0.U, 0.U, true)
  )
  private val step = RegInit(0.U(log2Ceil(steps.size + 1).W))
  private val answered = RegInit(0.U(log2Ceil(steps.count(_._4) + 1).W))
  private val answers = Reg(Vec(3, UInt(64.W)))
  private def ofStep(values: Seq[UInt]): UInt = MuxLookup(step, 0.U(64.W))(values.zipWithIndex.map { case (value, at) =>
    at.U -> value
  })

  private val xd = VecInit(steps.map(_._4.B))(step)
  over := answered === steps.count(_._4).U
  command.request.valid := descriptor.valid && step =/= steps.size.U
  command.request.bits.opcode := opcode.U
  command.request.bits.funct := ofStep(steps.map(_._1.funct.U(7.W)))
  command.request.bits.rs1 := ofStep(steps.map(_._2))
  command.request.bits.rs2 := ofStep(steps.map(_._3))
  command.request.bits.rd := 0.U
  command.request.bits.xd := xd
  command.response.ready := true.B

  when(command.request.fire) { step := step + 1.U }
  when(command.response.fire) {
    answered := answered + 1.U
    answers := VecInit(answers.tail :+ command.response.bits.data)
  }
  descriptor.ready := over && !hold
  when(descriptor.fire) {
    step := 0.U
    answered := 0.U
  }

  ending.tag := asks.tag
  ending.status := answers(0)
  ending.outputBytes := answers(1)
  ending.inputOffset := answers(2)
  assert(!command.response.valid || answered < step, "the unit answers what it was not asked")
}
