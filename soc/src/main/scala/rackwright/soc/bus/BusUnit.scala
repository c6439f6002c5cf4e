package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.amba.axi4._
import freechips.rocketchip.config.Parameters
import freechips.rocketchip.diplomacy._
import freechips.rocketchip.interrupts.{IntSourceNode, IntSourcePortSimple}
import freechips.rocketchip.subsystem.BaseSubsystem
import freechips.rocketchip.tilelink._

/** A unit on the buses of a chip: programs of every hart reach it by its registers, and its interrupts go to the
  * interrupt controller. Memory ports are clients of the system bus, in front of the hub that keeps caches coherent.
  */
class BusUnit(val spec: BusUnitSpec, memory: RangeSpec, lineBytes: Int, lines: Int)(implicit p: Parameters)
    extends LazyModule {
  private val device = new SimpleDevice(spec.unit.name, Seq(s"rackwright,${spec.kind}"))

  val registers: RegisterPort = LazyModule(new RegisterPort(spec, device))
  val interrupts = IntSourceNode(IntSourcePortSimple(num = spec.unit.interrupts.size, resources = device.int))
  val ports: Seq[LinePort] = spec.unit.memories.map { port =>
    LazyModule(new LinePort(port, memory, lineBytes, lines)).suggestName(s"${port.name}_port")
  }
  val managers: Seq[AXI4MasterNode] = spec.managers.map { port =>
    AXI4MasterNode(Seq(AXI4MasterPortParameters(
      Seq(AXI4MasterParameters(s"${spec.unit.name}-${port.name}", IdRange(0, 1 << port.idBits)))
    )))
  }

  /** Attaches it to the buses of a chip. */
  def attach(chip: BaseSubsystem): Unit = {
    val bytes = spec.registers.bytes
    chip.pbus.coupleTo(s"registers_${spec.unit.name}") {
      (registers.node
        := TLFragmenter(bytes, chip.pbus.blockBytes, holdFirstDeny = true)
        := TLWidthWidget(chip.pbus.beatBytes)
        := _)
    }
    if (spec.unit.interrupts.nonEmpty) chip.ibus.fromSync := interrupts
    spec.unit.memories.zip(ports).foreach { case (memory, port) =>
      chip.sbus.coupleFrom(s"${spec.unit.name}_${memory.name}") { _ := TLWidthWidget(port.busBytes) := port.node }
    }
    spec.managers.zip(managers).foreach { case (port, manager) =>
      chip.sbus.coupleFrom(s"${spec.unit.name}_${port.name}") {
        (_
          := TLBuffer()
          := TLFIFOFixer(TLFIFOFixer.all)
          := TLWidthWidget(port.bytes)
          := AXI4ToTL()
          := AXI4UserYanker(Some(BusUnit.burstsAtOnce))
          := AXI4Fragmenter()
          := AXI4IdIndexer(BusUnit.idBits)
          := manager)
      }
    }
  }

  lazy val module = new BusUnitModule(this)
}

object BusUnit {

  /** Bursts of AXI4 under way, of each identifier and direction. */
  private val burstsAtOnce = 8

  /** Identifiers of AXI4 that are told apart on the bus. */
  private val idBits = 1
}

/** The box of a unit, its pins connected to its ports. */
class BusUnitModule(outer: BusUnit) extends LazyModuleImp(outer) {
  private val spec = outer.spec
  private val box = Module(new UnitBox(spec.unit, () => spec.pins.map(typed))).suggestName("unit")

  box.run(clock, reset.asBool)
  private val registers = spec.registers
  RegisterPins.connect(outer.registers.module.unit, registers, signal => box.io.bits(registers.pins(signal).name))
  spec.unit.memories.zip(outer.ports).foreach { case (memory, port) => box.connect(memory, port.module.unit) }
  spec.managers.zip(outer.managers).foreach { case (port, node) =>
    new ManagerPins(port, box).connect(node.out.head._1)
  }
  val streams: Seq[DecoupledIO[StreamBeat]] = spec.streams.map { stream =>
    val port = IO(StreamPins.port(stream)).suggestName(stream.name)
    StreamPins.connect(port, stream, signal => box.io.bits(stream.pins(signal).name))
    port
  }
  if (spec.unit.interrupts.nonEmpty) outer.interrupts.out.head._1 := VecInit(box.interrupts)

  private def typed(pin: PinSpec): (String, Data) = {
    val bits = UInt(pin.bits.W)
    pin.name -> (if (pin.input) Input(bits) else Output(bits))
  }
}
