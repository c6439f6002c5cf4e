package rackwright.port

import chisel3._
import chisel3.util._

/** A command with the state of its hart's registers at its issue. */
class TranslatedCommand extends Command {
  val context = new TranslationContext
}

/** The command port of a unit that translates, seen from the unit. */
class TranslatedCommandPort extends Bundle {
  val request = Flipped(Decoupled(new TranslatedCommand))
  val response = Decoupled(new CommandResponse)

  /** The hart has executed an `sfence.vma`. */
  val fence = Input(Bool())
}
