package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.access.translation.TranslationFault
import rackwright.port.{CommandPort, Status}

/** The descriptor that a unit works on, and its result: an ending for a program, or a descriptor for the next unit of a
  * chain, by the elements of the outgoing queue. The result is dropped if the engine has stopped meanwhile.
  *
  * @param build
  *   gives the unit its commands.
  * @param isOpen
  *   the engine has not stopped.
  * @param giver
  *   takes the result.
  * @param fault
  *   where the unit was refused an access, if addresses are translated: part of the ending.
  */
private[queue] class DescriptorWork(
    build: => UnitRunner,
    isOpen: Bool,
    giver: QueueGiver,
    fault: Option[Valid[TranslationFault]] = None
) {
  private val runner = Module(build).suggestName("runner")
  private val descriptor = Reg(new Descriptor).suggestName("descriptor")

  /** There is a descriptor. */
  val busy: Bool = RegInit(false.B).suggestName("busy")
  def command: CommandPort = runner.command

  // What a unit before has failed to make is passed on.
  private val failed = descriptor.status =/= Status.ok
  private val held = isOpen && !giver.element.ready
  runner.descriptor.valid := busy && !failed
  runner.descriptor.bits := descriptor
  runner.hold := held

  /** In this cycle the descriptor ends. */
  val ends: Bool = busy && failed && !held || runner.descriptor.fire

  /** It has ended but for a place for its result. */
  val waitsForPlace: Bool = (failed || runner.over) && !giver.element.ready

  private val ending = WireDefault(runner.ending)
  fault.foreach { first =>
    when(first.valid && runner.ending.status === Status.accessFault) { ending.inputOffset := first.bits.word }
  }
  when(failed) {
    ending := 0.U.asTypeOf(ending)
    ending.tag := descriptor.tag
    ending.status := descriptor.status
  }
  giver.element.valid := ends
  giver.element.bits := Mux(giver.wide, following.asUInt, ending.asUInt)
  when(ends) { busy := false.B }

  /** Has the unit begin with `next` in the next cycle. */
  def begin(next: Descriptor): Unit = {
    descriptor := next
    busy := true.B
  }

  /** The descriptor for the next unit of a chain: its input is the output of this one. */
  private def following: Descriptor = {
    val next = WireDefault(0.U.asTypeOf(new Descriptor))
    next.source := descriptor.destination
    next.sourceBytes := ending.outputBytes
    next.destination := Mux(descriptor.spare === 0.U, descriptor.source, descriptor.spare)
    next.capacity := descriptor.capacity
    next.tag := descriptor.tag
    next.status := ending.status
    next
  }
}
