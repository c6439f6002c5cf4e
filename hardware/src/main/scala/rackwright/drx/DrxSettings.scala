package rackwright.drx

import rackwright.operation.{Setting => CommandSetting}

/** The settings of later operations: the ranges that a program may read, and its time limit. */
object DrxSettings {
  private val firstFunct = 4
  private val addressBits = 64
  private val cycleBits = 40

  /** Ranges to read, in addition to the program and the destination. */
  val inputs: Int = Isa.regions - 1

  /** Names of the settings of an input, whose number counts from 1. */
  def address(input: Int): String = s"input${input}_address"
  def bytes(input: Int): String = s"input${input}_bytes"
  val cycleLimit: String = "cycle_limit"

  /** The settings in the order of their functs. */
  val all: Seq[CommandSetting] = {
    val ranges = (1 to inputs).flatMap { input =>
      val funct = firstFunct + 2 * (input - 1)
      Seq(
        CommandSetting(address(input), funct, addressBits, 0, s"address of input $input"),
        CommandSetting(bytes(input), funct + 1, addressBits, 0, s"its bytes")
      )
    }
    val limit = (BigInt(1) << cycleBits) - 1
    ranges :+ CommandSetting(
      cycleLimit,
      firstFunct + 2 * inputs,
      cycleBits,
      limit,
      "cycles after which a program is stopped"
    )
  }
}
