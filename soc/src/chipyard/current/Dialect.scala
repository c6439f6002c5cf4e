package rackwright.soc

import chisel3._
import freechips.rocketchip.diplomacy.IdRange
import freechips.rocketchip.tilelink.{TLClientNode, TLMasterParameters, TLMasterPortParameters}
import org.chipsalliance.diplomacy.ValName

import scala.collection.immutable.ListMap

/** What versions of Rocket Chip and Chisel spell differently; here that of Rocket Chip of 2026 with Chisel 6 or 7. */
object Dialect {
  type Config = org.chipsalliance.cde.config.Config
  type Parameters = org.chipsalliance.cde.config.Parameters
  type LazyModule = org.chipsalliance.diplomacy.lazymodule.LazyModule
  type LazyModuleImp = org.chipsalliance.diplomacy.lazymodule.LazyModuleImp
  val LazyModule: org.chipsalliance.diplomacy.lazymodule.LazyModule.type =
    org.chipsalliance.diplomacy.lazymodule.LazyModule

  /** A client of TileLink with this many requests under way at most. */
  def client(name: String, sources: Int)(implicit called: ValName): TLClientNode =
    TLClientNode(
      Seq(TLMasterPortParameters.v1(Seq(TLMasterParameters.v1(name = name, sourceId = IdRange(0, sources)))))
    )
}

/** Pins whose names and directions are only known when a manifest has been read. */
class Pins(pins: () => Seq[(String, Data)]) extends Record {
  val elements: ListMap[String, Data] = ListMap(pins(): _*)
  def apply(name: String): Data = elements(name)
  def bits(name: String): UInt = elements(name).asInstanceOf[UInt]
}
