package rackwright.soc

import java.nio.file.{Files, Path}

import org.json4s.{DefaultFormats, Formats}
import org.json4s.native.JsonMethods

/** A hart and the units beside it, by their places in the list of units. */
case class HartSpec(units: List[Int])

/** Sets, ways of a level-1 cache. */
case class CacheSpec(sets: Int, ways: Int)

/** What a SoC consists of: `units` are beside harts, all harts share `sharedUnits`, `busUnits` are on the buses. All of
  * it has been checked by who wrote it (`rackwright.soc` in Python).
  *
  * With `monitors`, assertions watch every edge of TileLink. With `memoriesApart`, memories that are read synchronously
  * are modules that others bring, listed in `TOP.conf`. The device tree names a serial port (16550) at `uart`, outside
  * of the chip. With `debug`, harts can be halted and examined by pins for JTAG.
  */
case class SocSpec(
    top: String,
    harts: List[HartSpec],
    units: List[UnitSpec],
    sharedUnits: List[UnitSpec],
    busUnits: List[BusUnitSpec],
    busBytes: Int,
    trackers: Int,
    icache: CacheSpec,
    dcache: CacheSpec,
    memory: RangeSpec,
    devices: RangeSpec,
    uart: BigInt,
    debug: Boolean,
    hertz: BigInt,
    monitors: Boolean,
    memoriesApart: Boolean,
    bootRom: String
) {

  /** Lines that a memory port has under way at most: those that the hub works on, and as many on their ways. */
  def linesOfPort: Int = LinePort.mostLines.min(2 * trackers)
}

object SocSpec {
  private implicit val formats: Formats = DefaultFormats

  /** Reads one from a file of JSON. */
  def read(path: Path): SocSpec =
    JsonMethods.parse(new String(Files.readAllBytes(path), "UTF-8")).extract[SocSpec]
}
