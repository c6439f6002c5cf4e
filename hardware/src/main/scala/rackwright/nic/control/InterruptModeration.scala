package rackwright.nic.control

import chisel3._

/** When the interrupt line is raised. */
class ModerationSetting extends Bundle {

  /** Completions that raise it at once. */
  val packets = UInt(16.W)

  /** Cycles after which it is raised for fewer. */
  val time = UInt(32.W)
}

/** The interrupt line: raised by waiting completions, lowered when none waits any more.
  *
  * The timer runs only while a completion waits and the line is low, so that the clock of an idle unit may stop.
  */
class InterruptModeration(countBits: Int) extends Module {
  val setting = IO(Input(new ModerationSetting))

  /** Completions that wait in the queues whose interrupt is enabled. */
  val waiting = IO(Input(UInt(countBits.W)))
  val interrupt = IO(Output(Bool()))

  /** Neither the line nor the timer is about to change. */
  val idle = IO(Output(Bool()))

  private val raised = RegInit(false.B)
  private val age = RegInit(0.U(32.W))

  private val pending = waiting =/= 0.U
  private val due = waiting >= setting.packets || age >= setting.time
  interrupt := raised
  idle := pending === raised

  when(!pending) {
    raised := false.B
    age := 0.U
  }.elsewhen(!raised) {
    raised := due
    age := age + 1.U
  }
}
