package rackwright.soc

import freechips.rocketchip.amba.axi4._
import freechips.rocketchip.diplomacy._
import freechips.rocketchip.subsystem._
import freechips.rocketchip.tilelink._

/** The buses of a chip, connected as `HasHierarchicalBusTopology` does, and as `CanHaveMasterAXI4MMIOPort` does for the
  * port of devices, but with few requests under way to devices.
  *
  * Each memory port of a unit adds up to 16 sources to the system bus: hundreds together. What is behind a bus, and the
  * monitor on each of its edges, has state for every source that may arrive, although devices answer one request after
  * the other. Sources of the system bus therefore end where those of devices begin; the hub does the same for memory.
  */
trait Topology { this: BaseSubsystem =>
  sbus.clockGroupNode := asyncClockGroupsNode
  cbus.clockGroupNode := sbus.clockGroupNode
  sbus.coupleTo("bus_named_cbus") {
    (cbus.crossInHelper(NoCrossing)
      := TLWidthWidget(sbus.beatBytes)
      := TLSourceShrinker(Topology.requestsToDevices)
      := _)
  }
  cbus.crossToBus(pbus, SynchronousCrossing())
  FlipRendering { implicit p => sbus.crossFromBus(fbus, SynchronousCrossing()) }

  mbus.clockGroupNode := sbus.clockGroupNode
  private val BankedL2Params(banks, coherence) = p(BankedL2Key)
  private val (in, out, _) = coherence(this)
  sbus.coupleTo("coherence_manager") { in :*= _ }
  mbus.coupleFrom("coherence_manager") {
    _ :=* BankBinder(mbus.blockBytes * (banks - 1)) :*= out
  }

  private val port = p(ExtBus).get
  private val devices = new SimpleBus("mmio-port-axi4", Nil)
  private val sizes = TransferSizes(1, port.maxXferBytes)
  private val deviceNode = AXI4SlaveNode(Seq(AXI4SlavePortParameters(
    slaves = Seq(AXI4SlaveParameters(
      address = AddressSet.misaligned(port.base, port.size),
      resources = devices.ranges,
      executable = port.executable,
      supportsWrite = sizes,
      supportsRead = sizes
    )),
    beatBytes = port.beatBytes
  )))
  sbus.coupleTo("port_named_mmio_port_axi4") {
    (deviceNode
      := AXI4Buffer()
      := AXI4UserYanker()
      := AXI4Deinterleaver(sbus.blockBytes)
      := AXI4IdIndexer(port.idBits)
      := TLToAXI4()
      := TLWidthWidget(sbus.beatBytes)
      := TLSourceShrinker(Topology.requestsToDevices)
      := _)
  }

  val mmio_axi4 = InModuleBody { deviceNode.makeIOs() }
}

object Topology {

  /** Requests under way to devices at a port of the system bus: one of each of eight harts. Further ones wait. */
  private val requestsToDevices = 8
}
