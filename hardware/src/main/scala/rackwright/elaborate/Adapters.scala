package rackwright.elaborate

import rackwright.contract.{AdaptedUnit, HardwareUnit}

/** What a unit's ports are turned into.
  *
  * @param mmio
  *   commands come through registers instead of RoCC.
  * @param axi4
  *   memory ports become AXI4 masters.
  */
case class Adapters(mmio: Boolean = false, axi4: Boolean = false) {

  /** The unit itself, or the unit within its adapters. */
  def apply(build: => HardwareUnit): HardwareUnit = if (mmio || axi4) new AdaptedUnit(build, mmio, axi4) else build
}
