package rackwright.nic.virtio

import chisel3._

import rackwright.nic.control.{InterruptModeration, ModerationSetting}

/** When a driver is notified of buffers returned from a queue. */
class NotificationSetting extends Bundle {
  val when = new ModerationSetting

  /** Also if it has not requested it. */
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

/** Notifies a driver of several frames together: after a number of frames, or a number of cycles after the first one.
  */
class NotificationCoalescer extends Module {
  val setting = IO(Input(new ModerationSetting))

  /** A frame of which the driver has requested a notification. */
  val used = IO(Input(Bool()))

  /** The driver is to be notified. */
  val interrupt = IO(Output(Bool()))

  /** Drops pending notifications. */
  val clear = IO(Input(Bool()))

  /** No notification is pending. */
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
