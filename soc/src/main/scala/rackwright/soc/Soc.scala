package rackwright.soc

import freechips.rocketchip.config.Parameters
import freechips.rocketchip.devices.tilelink.{HasPeripheryBootROM, HasPeripheryBootROMModuleImp}
import freechips.rocketchip.subsystem._

/** The top: harts with their units, buses, interrupt controllers and boot ROM; memory and devices behind AXI4 ports. */
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
}

/** Its logic: the clock of `mtime`, interrupt lines of devices, and where harts begin. */
class SocModule(soc: Soc)
    extends RocketSubsystemModuleImp(soc)
    with HasRTCModuleImp
    with HasExtInterruptsModuleImp
    with HasPeripheryBootROMModuleImp
