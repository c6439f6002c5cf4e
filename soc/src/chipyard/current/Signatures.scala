/** What a unit's wrapper uses of Rocket Chip, CDE and diplomacy: names, parameters and types, without what they do.
  *
  * `python/tests/test_export.py` compiles wrappers of the dialect `current` against it. Read from
  * chipsalliance/rocket-chip c1dda5827d21 (2026-04-21), chipsalliance/cde 52768c97a27b, chipsalliance/diplomacy
  * fe5e131d4fc8 (those that it names) and ucb-bar/chipyard e602d917dcc4 (2026-08-18), which builds them with Chisel
  * 6.7.0 and 7.13.0. Files: src/main/scala/tile/LazyRoCC.scala, tilelink/{Bundles,Edges,Nodes,Parameters,
  * WidthWidget}.scala, subsystem/{BankedCoherenceParams,BusTopology,Ports,SystemBus}.scala;
  * cde/src/chipsalliance/rocketchip/config.scala; diplomacy/src/diplomacy/lazymodule/{LazyModule,LazyModuleImp}.scala.
  */
package org.chipsalliance.cde {
  object config {
    abstract class Field[T] private (val default: Option[T]) {
      def this() = this(None)
      def this(default: T) = this(Some(default))
    }
    abstract class View {
      final def apply[T](pname: Field[T]): T = ???
    }
    abstract class Parameters extends View
    class Config(p: Parameters) extends Parameters {
      def this(f: (View, View, View) => PartialFunction[Any, Any]) = this(??? : Parameters)
    }
  }
}

package org.chipsalliance.diplomacy {
  case class ValName(value: String)
  object ValName {
    implicit def here(implicit name: sourcecode.Name): ValName = ValName(name.value)
  }
}

package org.chipsalliance.diplomacy.lazymodule {
  import chisel3.experimental.SourceInfo
  import org.chipsalliance.cde.config.Parameters
  import org.chipsalliance.diplomacy.ValName

  abstract class LazyModule()(implicit val p: Parameters) {
    def module: LazyModuleImpLike
    def suggestName(x: String): this.type = ???
  }
  object LazyModule {
    def apply[T <: LazyModule](bc: T)(implicit valName: ValName, sourceInfo: SourceInfo): T = ???
  }
  trait LazyModuleImpLike extends chisel3.RawModule
  class LazyModuleImp(val wrapper: LazyModule) extends chisel3.Module with LazyModuleImpLike
}

package freechips.rocketchip.diplomacy {
  case class IdRange(start: Int, end: Int)
}

package freechips.rocketchip.subsystem {
  import org.chipsalliance.cde.config.Field

  case object CacheBlockBytes extends Field[Int](64)
  case class SystemBusParams(beatBytes: Int, blockBytes: Int)
  case object SystemBusKey extends Field[SystemBusParams]
  case class MasterPortParams(base: BigInt, size: BigInt, beatBytes: Int, idBits: Int)
  case class MemoryPortParams(master: MasterPortParams, nMemoryChannels: Int, incohBase: Option[BigInt] = None)
  case object ExtMem extends Field[Option[MemoryPortParams]](None)
}

package freechips.rocketchip.tilelink {
  import chisel3._
  import chisel3.util.DecoupledIO
  import freechips.rocketchip.diplomacy.IdRange
  import org.chipsalliance.cde.config.Parameters
  import org.chipsalliance.diplomacy.ValName

  abstract class TLChannel extends Bundle
  final class TLBundleA extends TLChannel
  final class TLBundleB extends TLChannel
  final class TLBundleC extends TLChannel
  final class TLBundleD extends TLChannel {
    val source = UInt(8.W)
    val denied = Bool()
    val data = UInt(64.W)
    val corrupt = Bool()
  }
  final class TLBundleE extends TLChannel
  abstract class TLBundle {
    def a: DecoupledIO[TLBundleA]
    def b: DecoupledIO[TLBundleB]
    def c: DecoupledIO[TLBundleC]
    def d: DecoupledIO[TLBundleD]
    def e: DecoupledIO[TLBundleE]
  }
  class TLSlavePortParameters private () {
    def beatBytes: Int = ???
  }
  class TLEdgeOut private () {
    val manager: TLSlavePortParameters = ???
    def Get(fromSource: UInt, toAddress: UInt, lgSize: UInt): (Bool, TLBundleA) = ???
    def Put(fromSource: UInt, toAddress: UInt, lgSize: UInt, data: UInt, mask: UInt): (Bool, TLBundleA) = ???
    def hasData(x: TLChannel): Bool = ???
    def count(x: DecoupledIO[TLChannel]): (Bool, Bool, Bool, UInt) = ???
  }

  class TLMasterParameters private ()
  object TLMasterParameters {
    def v1(name: String, sourceId: IdRange = IdRange(0, 1)): TLMasterParameters = ???
  }
  class TLMasterPortParameters private ()
  object TLMasterPortParameters {
    def v1(clients: Seq[TLMasterParameters], minLatency: Int = 0): TLMasterPortParameters = ???
  }
  abstract class TLNode {
    def :=(other: TLNode)(implicit p: Parameters): TLNode = ???
  }
  case class TLIdentityNode()(implicit valName: ValName) extends TLNode
  case class TLClientNode(portParams: Seq[TLMasterPortParameters])(implicit valName: ValName) extends TLNode {
    def out: Seq[(TLBundle, TLEdgeOut)] = ???
  }
  object TLWidthWidget {
    def apply(innerBeatBytes: Int)(implicit p: Parameters): TLNode = ???
  }
}

package freechips.rocketchip.rocket {
  import chisel3._
  import chisel3.util.{Decoupled, Valid}
  import freechips.rocketchip.tile.CoreBundle
  import org.chipsalliance.cde.config.Parameters

  class MStatus extends Bundle {
    val dprv = UInt(2.W)
    val mxr = Bool()
    val sum = Bool()
  }
  class PTBR(implicit p: Parameters) extends CoreBundle()(p) {
    val mode = UInt(4.W)
    val asid = UInt(16.W)
    val ppn = UInt(44.W)
  }
  class TLBPTWIO(implicit p: Parameters) extends CoreBundle()(p) {
    val req = Decoupled(Valid(new Bundle {}))
    val ptbr = Input(new PTBR)
  }
}

package freechips.rocketchip.tile {
  import chisel3._
  import chisel3.util.{Decoupled, DecoupledIO}
  import freechips.rocketchip.rocket.{MStatus, TLBPTWIO}
  import freechips.rocketchip.tilelink.{TLIdentityNode, TLNode}
  import org.chipsalliance.cde.config.{Field, Parameters}
  import org.chipsalliance.diplomacy.lazymodule.{LazyModule, LazyModuleImp}

  case object BuildRoCC extends Field[Seq[Parameters => LazyRoCC]](Nil)
  class OpcodeSet(val opcodes: Seq[UInt]) {
    def |(set: OpcodeSet): OpcodeSet = ???
  }
  object OpcodeSet {
    def custom0: OpcodeSet = ???
    def custom1: OpcodeSet = ???
    def custom2: OpcodeSet = ???
    def custom3: OpcodeSet = ???
  }
  abstract class CoreBundle(implicit val p: Parameters) extends Bundle
  class RoCCInstruction extends Bundle {
    val funct = UInt(7.W)
    val rs2 = UInt(5.W)
    val rs1 = UInt(5.W)
    val xd = Bool()
    val xs1 = Bool()
    val xs2 = Bool()
    val rd = UInt(5.W)
    val opcode = UInt(7.W)
  }
  class RoCCCommand(implicit p: Parameters) extends CoreBundle()(p) {
    val inst = new RoCCInstruction
    val rs1 = UInt(64.W)
    val rs2 = UInt(64.W)
    val status = new MStatus
  }
  class RoCCResponse(implicit p: Parameters) extends CoreBundle()(p) {
    val rd = UInt(5.W)
    val data = UInt(64.W)
  }
  class HellaCacheIO(implicit p: Parameters) extends CoreBundle()(p) {
    val req = Decoupled(new Bundle {})
  }
  class RoCCCoreIO(implicit p: Parameters) extends CoreBundle()(p) {
    val cmd = Flipped(Decoupled(new RoCCCommand))
    val resp = Decoupled(new RoCCResponse)
    val mem = new HellaCacheIO
    val busy = Output(Bool())
    val interrupt = Output(Bool())
    val exception = Input(Bool())
  }
  class RoCCIO(val nPTWPorts: Int)(implicit p: Parameters) extends RoCCCoreIO()(p) {
    val ptw = Vec(nPTWPorts, new TLBPTWIO)
    val fpu_req: DecoupledIO[Bundle] = Decoupled(new Bundle {})
    val fpu_resp: DecoupledIO[Bundle] = Flipped(Decoupled(new Bundle {}))
  }
  abstract class LazyRoCC(val opcodes: OpcodeSet, val nPTWPorts: Int = 0, val usesFPU: Boolean = false)(implicit
      p: Parameters
  ) extends LazyModule {
    val module: LazyRoCCModuleImp
    val atlNode: TLNode = TLIdentityNode()
    val tlNode: TLNode = TLIdentityNode()
  }
  class LazyRoCCModuleImp(outer: LazyRoCC) extends LazyModuleImp(outer) {
    val io: RoCCIO = IO(new RoCCIO(outer.nPTWPorts)(outer.p))
  }
}
