package rackwright.nic.virtio

import chisel3._

import rackwright.nic.control.{InterruptModeration, ModerationSetting}

/** When a driver is told of buffers that it got back from a queue. */
class NotificationSetting extends Bundle {
  val when = new ModerationSetting

  /** Also when it does not want to know. */
  val always = Bool()

  /** As in a register. */
  def word: UInt =
    VirtioMap.moderationRegister.word("always" -> always, "time" -> when.time, "packets" -> when.packets)
}

/** The fields of a [[NotificationSetting]]. */
object NotificationSetting {
  def of(data: UInt): NotificationSetting = {
    val setting = Wire(new NotificationSetting)
    val register = VirtioMap.moderationRegister
    setting.when.packets := register("packets").of(data)
    setting.when.time := register("time").of(data)
    setting.always := register("always").of(data)
    setting
  }
}

/** Has a driver told of several frames at once: of so many, or of what there is so many cycles after the first one. */
class NotificationCoalescer extends Module {
  val setting = IO(Input(new ModerationSetting))

  /** A frame that the driver wants to know of. */
  val used = IO(Input(Bool()))

  /** It is to be told. */
  val interrupt = IO(Output(Bool()))

  /** Forgets what it has not told. */
  val clear = IO(Input(Bool()))

  /** No frame waits to be told. */
  val idle = IO(Output(Bool()))

  private val untold = RegInit(0.U(setting.packets.getWidth.W))
  private val moderation = Module(new InterruptModeration(untold.getWidth))
  private val immediate = setting.packets <= 1.U
  moderation.setting := setting
  private val due = moderation.interrupt && untold =/= 0.U
  moderation.waiting := Mux(due, 0.U, untold)

  interrupt := Mux(immediate, used, due)
  when(immediate || clear) { untold := 0.U }.otherwise { untold := Mux(due, 0.U, untold) + used }
  idle := untold === 0.U && moderation.idle && !used
}
