package rackwright.soc

import chisel3._
import chisel3.util.experimental.BoringUtils
import freechips.rocketchip.config.Parameters
import freechips.rocketchip.devices.tilelink.{HasPeripheryBootROM, HasPeripheryBootROMModuleImp}
import freechips.rocketchip.diplomacy.{DTB, DTS, LazyModule}
import freechips.rocketchip.subsystem._

/** The top: harts with their units, units that they share, units on the buses, interrupt controllers and boot ROM;
  * memory and devices behind AXI4 ports, streams of units at pins.
  */
class Soc(spec: SocSpec)(implicit p: Parameters)
    extends RocketSubsystem
    with Topology
    with HasAsyncExtInterrupts
    with CanHaveMasterAXI4MemPort
    with HasPeripheryBootROM {
  override lazy val desiredName: String = spec.top
  override lazy val dts: String = DeviceTree.withTimebase(DTS(bindingTree), SocConfig.timebase)
  override lazy val dtb: DTB = DeviceTree.compiled(dts)
  override lazy val module = new SocModule(this)
  SerialPort.describe(spec.uart)

  if (spec.sharedUnits.nonEmpty) {
    val doors = rocketTiles.flatMap(_.roccs.collect { case door: HartDoor => door })
    val hart = rocketTiles.head.p
    def units: HartUnits = new HartUnits(spec.sharedUnits, spec.memory, p(CacheBlockBytes), spec.linesOfPort)(hart)
    val shared = LazyModule(new SharedUnits(units, doors))
    shared.attach(this)
  }

  val busUnits: Seq[BusUnit] = spec.busUnits.map { unit =>
    val onBus = LazyModule(new BusUnit(unit, spec.memory, p(CacheBlockBytes), spec.linesOfPort))
    onBus.suggestName(unit.unit.name.replace('-', '_')).attach(this)
    onBus
  }
}

/** Its logic: the clock of `mtime`, interrupt lines of devices, where harts begin, and the pins of streams. */
class SocModule(soc: Soc)
    extends RocketSubsystemModuleImp(soc)
    with HasRTCModuleImp
    with HasExtInterruptsModuleImp
    with HasPeripheryBootROMModuleImp {
  // Rocket's port for units says nothing of fences, its page-table walker knows them.
  soc.rocketTiles.foreach { tile =>
    tile.roccs.collect { case units: HartUnits if units.translates => units }.foreach { units =>
      BoringUtils.bore(tile.module.ptw.io.dpath.sfence.valid, Seq(units.module.fence))
    }
  }
  soc.busUnits.foreach { unit =>
    unit.spec.streams.zip(unit.module.streams).foreach { case (spec, stream) =>
      IO(StreamPins.port(spec)).suggestName(s"${unit.spec.unit.name.replace('-', '_')}_${spec.name}") <> stream
    }
  }
}
