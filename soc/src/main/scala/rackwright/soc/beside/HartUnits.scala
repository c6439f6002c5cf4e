package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.tile.{LazyRoCC, LazyRoCCModuleImp, OpcodeSet, RoCCResponse}
import freechips.rocketchip.tilelink.TLWidthWidget

import Dialect.{LazyModule, Parameters}

/** The units beside a hart: one RoCC unit to Rocket, which tells them apart by ranges of function numbers.
  *
  * Each of their memory ports has at most `lines` lines under way.
  */
class HartUnits(units: Seq[UnitSpec], memory: RangeSpec, lineBytes: Int, lines: Int = LinePort.mostLines)(implicit
    p: Parameters
) extends LazyRoCC(HartUnits.opcodes(units), nPTWPorts = if (units.exists(_.translates)) 1 else 0) {

  /** Whether units translate addresses: the hart then tells them of its page tables, by the port of a walker. */
  val translates: Boolean = units.exists(_.translates)

  /** For each unit its memory ports. */
  val ports: Seq[Seq[LinePort]] = units.map(_.memories.map { spec =>
    val port = LazyModule(new LinePort(spec, memory, lineBytes, lines)).suggestName(s"${spec.name}_port")
    tlNode := TLWidthWidget(port.busBytes) := port.node
    port
  })

  override lazy val module = new HartUnitsModule(this, units)
}

object HartUnits {
  private val sets = Seq(OpcodeSet.custom0, OpcodeSet.custom1, OpcodeSet.custom2, OpcodeSet.custom3)

  def opcodes(units: Seq[UnitSpec]): OpcodeSet =
    units.flatMap(_.routes.map(_.opcode)).distinct.sorted.map(sets).reduce(_ | _)
}

/** Connects the units to the hart and to their memory ports. */
class HartUnitsModule(outer: HartUnits, units: Seq[UnitSpec]) extends LazyRoCCModuleImp(outer) {

  /** The hart executes `sfence.vma`: to be connected by whoever knows the hart, as its port for units does not say so.
    */
  val fence: Bool = WireInit(false.B)

  private val command = io.cmd.bits
  private val opcode = command.inst.opcode(6, 5)
  private val boxes = units.zip(outer.ports).map { case (spec, ports) => connected(spec, ports) }
  private val chosen = units.map(_.routes.map(reaches).reduce(_ || _))

  private val answers = Module(new RRArbiter(new RoCCResponse()(outer.p), units.size + 1))
  private val ready = units.zip(boxes).zip(chosen).zip(answers.io.in).map { case (((spec, box), mine), answer) =>
    def pin(name: String): UInt = box.io.bits(s"${spec.command.get}_$name")
    pin("request_valid") := io.cmd.valid && mine
    pin("request_bits_opcode") := opcode
    pin("request_bits_funct") := spec.routes.map(route => Mux(reaches(route), functOf(route), 0.U)).reduce(_ | _)
    pin("request_bits_rs1") := command.rs1
    pin("request_bits_rs2") := command.rs2
    pin("request_bits_rd") := command.inst.rd
    pin("request_bits_xd") := command.inst.xd
    if (spec.translates) {
      pin("request_bits_context_satp") := io.ptw.head.ptbr.asUInt
      pin("request_bits_context_privilege") := command.status.dprv
      pin("request_bits_context_sum") := command.status.sum
      pin("request_bits_context_mxr") := command.status.mxr
      pin("fence") := fence
    }
    pin("response_ready") := answer.ready
    answer.valid := pin("response_valid").asBool
    answer.bits.rd := pin("response_bits_rd")
    answer.bits.data := pin("response_bits_data")
    mine && pin("request_ready").asBool
  }

  // A number of no unit is answered with all ones, as units do with numbers that they do not know.
  private val nobody = answers.io.in.last
  private val unknown = !chosen.reduce(_ || _)
  nobody.valid := io.cmd.valid && unknown && command.inst.xd
  nobody.bits.rd := command.inst.rd
  nobody.bits.data := ~0.U(64.W)
  io.cmd.ready := ready.reduce(_ || _) || unknown && (nobody.ready || !command.inst.xd)

  io.resp <> answers.io.out
  io.busy := units.zip(boxes).flatMap { case (spec, box) => spec.idle.map(!box.io.bits(_).asBool) }.fold(false.B)(
    _ || _
  )
  io.interrupt := boxes.flatMap(_.interrupts).fold(false.B)(_ || _)
  io.mem.req.valid := false.B
  io.mem := DontCare
  io.fpu_req := DontCare
  io.fpu_req.valid := false.B
  io.fpu_resp.ready := false.B
  io.ptw.foreach { walker =>
    walker := DontCare
    walker.req.valid := false.B
  }

  private def reaches(route: RouteSpec): Bool = {
    val ignored = log2Ceil(route.size)
    opcode === route.opcode.U && (command.inst.funct >> ignored) === (route.base >> ignored).U
  }

  /** The number that the unit knows: the last one of a range is its last one as well, which asks for faults. */
  private def functOf(route: RouteSpec): UInt = {
    val own = command.inst.funct & (route.size - 1).U
    Mux(own === (route.size - 1).U, 127.U, own)
  }

  private def connected(spec: UnitSpec, ports: Seq[LinePort]): UnitBox = {
    val box = Module(new UnitBox(spec)).suggestName(spec.name.replace('-', '_'))
    box.run(clock, reset.asBool)
    spec.memories.zip(ports).foreach { case (memory, port) => box.connect(memory, port.module.unit) }
    box
  }
}
