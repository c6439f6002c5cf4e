package rackwright.soc

import java.nio.file.{Files, Path}

import org.json4s.{DefaultFormats, Formats}
import org.json4s.native.JsonMethods

/** A memory port of a unit: beats of `bytes` bytes, told apart by tags of `tagBits` bits. */
case class MemorySpec(name: String, bytes: Int, tagBits: Int, addressBits: Int)

/** The numbers by which programs reach a unit: those of custom-`opcode` from `base` on, `size` of them. */
case class RouteSpec(opcode: Int, base: Int, size: Int)

/** A unit as a black box: its module with its parameters, its pins by contract, and how commands reach it. */
case class UnitSpec(
    name: String,
    module: String,
    parameters: Map[String, BigInt],
    clock: String,
    reset: String,
    resetHigh: Boolean,
    idle: Option[String],
    command: String,
    routes: List[RouteSpec],
    memories: List[MemorySpec],
    interrupts: List[String]
)

/** A hart and the units beside it, by their places in the list of units. */
case class HartSpec(units: List[Int])

/** A range of addresses. */
case class RangeSpec(base: BigInt, size: BigInt)

/** Sets, ways of a level-1 cache. */
case class CacheSpec(sets: Int, ways: Int)

/** What a SoC consists of. All of it has been checked by who wrote it (`rackwright.soc` in Python). */
case class SocSpec(
    top: String,
    harts: List[HartSpec],
    units: List[UnitSpec],
    busBytes: Int,
    trackers: Int,
    icache: CacheSpec,
    dcache: CacheSpec,
    memory: RangeSpec,
    devices: RangeSpec,
    hertz: BigInt,
    bootRom: String
)

object SocSpec {
  private implicit val formats: Formats = DefaultFormats

  /** Reads one from a file of JSON. */
  def read(path: Path): SocSpec =
    JsonMethods.parse(new String(Files.readAllBytes(path), "UTF-8")).extract[SocSpec]
}
