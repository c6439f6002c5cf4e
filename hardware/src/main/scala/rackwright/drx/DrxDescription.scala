package rackwright.drx

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** Describes the unit for elaboration. */
object DrxDescription extends UnitDescription {
  val name: String = "drx"
  val summary: String = "Restructures arrays by a program of vector operations and hardware loops."
  val status: String = "ready, without transfers to other units"

  val parameters: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("lanes", 32, 8, 256, "elements computed in a cycle"),
    Parameter.powerOfTwo("scratchpad-kib", 64, 4, 256, "size of the scratchpad"),
    Parameter.powerOfTwo("banks", 4, 1, 16, "parts of the scratchpad that are accessed at the same time"),
    Parameter.powerOfTwo("instruction-kib", 64, 1, 64, "size of the instruction memory"),
    Parameter.integer("loop-depth", 6, 2 to 7, "loops within each other"),
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new Drx(
    Params(
      lanes = values.int("lanes"),
      scratchpadKib = values.int("scratchpad-kib"),
      banks = values.int("banks"),
      instructionKib = values.int("instruction-kib"),
      loopDepth = values.int("loop-depth"),
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      commandQueue = values.int("command-queue")
    )
  )
}
