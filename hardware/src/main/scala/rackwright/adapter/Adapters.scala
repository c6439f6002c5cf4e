package rackwright.adapter

import rackwright.access.translation.TranslationParams
import rackwright.unit.{HardwareUnit, UsageError}

/** The conversions of a unit's ports.
  *
  * @param mmio
  *   commands arrive through registers instead of RoCC.
  * @param axi4
  *   memory ports become AXI4 masters.
  * @param queued
  *   commands come from queues in memory. Only with `translated`.
  * @param packets
  *   packets come from queues in memory. Not with the others.
  * @param mirror
  *   a station that returns frames is connected to the unit; only with `packets`.
  * @param translated
  *   addresses are virtual: they are translated between the unit's memory ports and the outside. Only with `queued`.
  */
case class Adapters(
    mmio: Boolean = false,
    axi4: Boolean = false,
    translated: Boolean = false,
    queued: Boolean = false,
    packets: Boolean = false,
    mirror: Boolean = false
) {
  if ((queued || packets) && axi4) throw UsageError("--command queue and packets go with --memory port")
  if (packets && translated) throw UsageError("--command packets goes with --translation off")
  if (translated && (mmio || axi4))
    throw UsageError("--translation on goes with --command rocc or queue, and --memory port")

  /** The unit itself, or the unit within its adapters. */
  def apply(build: => HardwareUnit): HardwareUnit =
    if (queued && translated) new TranslatedTile(build, TranslationParams())
    else if (queued) new QueuedUnit(build)
    else if (packets) new PacketUnit(build, mirror)
    else if (translated) new TranslatedUnit(build, TranslationParams())
    else if (mmio || axi4) new AdaptedUnit(build, mmio, axi4)
    else build
}
