package rackwright.adapter

import rackwright.access.translation.TranslationParams
import rackwright.unit.{HardwareUnit, UsageError}

/** What a unit's ports are turned into.
  *
  * @param mmio
  *   commands come through registers instead of RoCC.
  * @param axi4
  *   memory ports become AXI4 masters.
  * @param translated
  *   addresses are virtual: translation stands between the memory ports and the outside. Not with the others.
  */
case class Adapters(mmio: Boolean = false, axi4: Boolean = false, translated: Boolean = false) {
  if (translated && (mmio || axi4)) throw UsageError("--translation on goes with --command rocc and --memory port")

  /** The unit itself, or the unit within its adapters. */
  def apply(build: => HardwareUnit): HardwareUnit =
    if (translated) new TranslatedUnit(build, TranslationParams())
    else if (mmio || axi4) new AdaptedUnit(build, mmio, axi4)
    else build
}
