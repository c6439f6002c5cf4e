package rackwright.soc

import freechips.rocketchip.config.{Config, Parameters}
import freechips.rocketchip.devices.debug.{
  DebugAttachParams,
  DebugModuleKey,
  DefaultDebugModuleParams,
  ExportDebug,
  JTAG
}
import freechips.rocketchip.devices.tilelink.BootROMParams
import freechips.rocketchip.diplomacy.{DTSTimebase, LazyModule, MonitorsEnabled}
import freechips.rocketchip.rocket.{DCacheParams, ICacheParams, MulDivParams, RocketCoreParams}
import freechips.rocketchip.subsystem._
import freechips.rocketchip.tile.{BuildRoCC, LazyRoCC, RocketTileParams, TileKey}

/** The parameters of Rocket Chip that follow from a `SocSpec`. */
class SocConfig(spec: SocSpec)
    extends Config(
      new Config((site, _, up) => {
        case SystemBusKey => up(SystemBusKey, site).copy(beatBytes = spec.busBytes)
        case MemoryBusKey => up(MemoryBusKey, site).copy(beatBytes = spec.busBytes)
        case PeripheryBusKey => up(PeripheryBusKey, site).copy(dtsFrequency = Some(spec.hertz))
        case BroadcastKey => BroadcastParams(nTrackers = spec.trackers)
        case DebugModuleKey =>
          // Its clock is not gated, which would take a latch.
          val debug = DefaultDebugModuleParams(SocConfig.registerBits).copy(clockGate = false)
          if (spec.debug) Some(debug) else None
        case ExportDebug => DebugAttachParams(protocols = Set(JTAG))
        case MonitorsEnabled => spec.monitors
        case NExtTopInterrupts => SocConfig.deviceInterrupts
        case BootROMParams => BootROMParams(contentFileName = spec.bootRom, hang = SocConfig.bootRomBase)
        case ExtMem =>
          val port = MasterPortParams(spec.memory.base, spec.memory.size, spec.busBytes, SocConfig.memoryIdBits)
          Some(MemoryPortParams(port, nMemoryChannels = 1))
        case ExtBus =>
          Some(MasterPortParams(spec.devices.base, spec.devices.size, SocConfig.deviceBytes, SocConfig.deviceIdBits))
        case RocketTilesKey =>
          spec.harts.indices.map { hart =>
            val block = site(CacheBlockBytes)
            val row = site(SystemBusKey).beatBits
            RocketTileParams(
              hartId = hart,
              core =
                RocketCoreParams(mulDiv = Some(MulDivParams(mulUnroll = 8, mulEarlyOut = true, divEarlyOut = true))),
              dcache = Some(
                DCacheParams(
                  nSets = spec.dcache.sets,
                  nWays = spec.dcache.ways,
                  rowBits = row,
                  nMSHRs = 0,
                  blockBytes = block
                )
              ),
              icache = Some(ICacheParams(
                nSets = spec.icache.sets,
                nWays = spec.icache.ways,
                rowBits = row,
                blockBytes = block
              ))
            )
          }
        case BuildRoCC =>
          val own = spec.harts(site(TileKey).hartId).units.map(spec.units)
          val beside = Seq { (p: Parameters) =>
            val units = LazyModule(new HartUnits(own, spec.memory, p(CacheBlockBytes), spec.linesOfPort)(p))
            units: LazyRoCC
          }
          val shared = Seq { (p: Parameters) =>
            val door = LazyModule(new HartDoor(HartUnits.opcodes(spec.sharedUnits))(p))
            door: LazyRoCC
          }
          beside.filter(_ => own.nonEmpty) ++ shared.filter(_ => spec.sharedUnits.nonEmpty)
      }) ++
        new WithTimebase(SocConfig.timebase) ++
        new WithDTS(s"rackwright,${spec.top.toLowerCase}", Nil) ++
        new BaseSubsystemConfig
    )

object SocConfig {

  /** Where the boot ROM is, and harts begin. */
  val bootRomBase = 0x10000

  /** Ticks of `mtime` in a second. */
  val timebase = 10000000

  private val registerBits = 64
  private val memoryIdBits = 6
  private val deviceIdBits = 4
  private val deviceBytes = 8
  private val deviceInterrupts = 2
}
