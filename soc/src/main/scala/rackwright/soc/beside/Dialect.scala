package rackwright.soc

import chisel3._
import freechips.rocketchip.diplomacy.{IdRange, ValName}
import freechips.rocketchip.tilelink.{TLClientNode, TLClientParameters, TLClientPortParameters}

import scala.collection.immutable.ListMap

/** What versions of Rocket Chip and Chisel spell differently; here that of Rocket Chip 1.2 with Chisel 3.2.
  *
  * What is beside a hart is written for every version. `soc/src/chipyard` has this file for others.
  */
object Dialect {
  type Config = freechips.rocketchip.config.Config
  type Parameters = freechips.rocketchip.config.Parameters
  type LazyModule = freechips.rocketchip.diplomacy.LazyModule
  type LazyModuleImp = freechips.rocketchip.diplomacy.LazyModuleImp
  val LazyModule: freechips.rocketchip.diplomacy.LazyModule.type = freechips.rocketchip.diplomacy.LazyModule

  /** A client of TileLink with this many requests under way at most. */
  def client(name: String, sources: Int)(implicit called: ValName): TLClientNode =
    TLClientNode(Seq(TLClientPortParameters(Seq(TLClientParameters(name = name, sourceId = IdRange(0, sources))))))
}

/** Pins whose names and directions are only known when a manifest has been read. */
class Pins(pins: () => Seq[(String, Data)]) extends Record {
  val elements: ListMap[String, Data] = ListMap(pins(): _*)
  def apply(name: String): Data = elements(name)
  def bits(name: String): UInt = elements(name).asInstanceOf[UInt]
  override def cloneType: this.type = new Pins(pins).asInstanceOf[this.type]
}
