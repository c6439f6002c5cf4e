package rackwright.soc

import freechips.rocketchip.config.Parameters
import freechips.rocketchip.devices.tilelink.{HasPeripheryBootROM, HasPeripheryBootROMModuleImp}
import freechips.rocketchip.diplomacy.LazyModule
import freechips.rocketchip.subsystem._

/** The top: harts with their units, units on the buses, interrupt controllers and boot ROM; memory and devices behind
  * AXI4 ports.
  */
class Soc(spec: SocSpec)(implicit p: Parameters)
    extends RocketSubsystem
    with HasHierarchicalBusTopology
    with HasAsyncExtInterrupts
    with CanHaveMasterAXI4MemPort
    with CanHaveMasterAXI4MMIOPort
    with HasPeripheryBootROM {
  override lazy val desiredName: String = spec.top
  override lazy val dtb = DeviceTree.compiled(dts)
  override lazy val module = new SocModule(this)

  spec.busUnits.foreach { unit =>
    val onBus = LazyModule(new BusUnit(unit, spec.memory, p(CacheBlockBytes)))
    onBus.suggestName(unit.unit.name.replace('-', '_')).attach(this)
  }
}

/** Its logic: the clock of `mtime`, interrupt lines of devices, and where harts begin. */
class SocModule(soc: Soc)
    extends RocketSubsystemModuleImp(soc)
    with HasRTCModuleImp
    with HasExtInterruptsModuleImp
    with HasPeripheryBootROMModuleImp
