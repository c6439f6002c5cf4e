package rackwright.adapter

import rackwright.access.translation.TranslationParams
import rackwright.unit.{HardwareUnit, UsageError}

/** What a unit's ports are turned into.
  *
  * @param mmio
  *   commands come through registers instead of RoCC.
  * @param axi4
  *   memory ports become AXI4 masters.
  * @param queued
  *   commands come from queues in memory. Not with the others.
  * @param translated
  *   addresses are virtual: translation stands between the memory ports and the outside. Not with the others.
  */
case class Adapters(
    mmio: Boolean = false,
    axi4: Boolean = false,
    translated: Boolean = false,
    queued: Boolean = false
) {
  if (queued && (axi4 || translated)) throw UsageError("--command queue goes with --memory port and --translation off")
  if (translated && (mmio || axi4)) throw UsageError("--translation on goes with --command rocc and --memory port")

  /** The unit itself, or the unit within its adapters. */
  def apply(build: => HardwareUnit): HardwareUnit =
    if (queued) new QueuedUnit(build)
    else if (translated) new TranslatedUnit(build, TranslationParams())
    else if (mmio || axi4) new AdaptedUnit(build, mmio, axi4)
    else build
}
