package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.config.Parameters
import freechips.rocketchip.diplomacy._
import freechips.rocketchip.subsystem.BaseSubsystem
import freechips.rocketchip.tilelink.TLXbar

/** Units that all harts share: commands of every hart take turns and are known by the number of their hart, to which
  * their answers return. They wait in the queue that Rocket has for each hart.
  *
  * The units themselves, `beside`, are as beside one hart. They answer in the order of commands, so that numbers of
  * harts wait in one queue. A sequence of commands of one hart may be interrupted by those of another one: programs
  * take turns.
  */
class SharedUnits(beside: => HartUnits, doors: Seq[HartDoor])(implicit p: Parameters) extends LazyModule {
  val units: HartUnits = LazyModule(beside)
  val harts: Seq[BundleBridgeSink[SharedPort]] = doors.map { door =>
    val sink = BundleBridgeSink[SharedPort]()
    sink := door.node
    sink
  }
  private val ports = TLXbar()
  ports :=* units.tlNode

  /** Attaches its memory ports to the bus in front of the hub. */
  def attach(chip: BaseSubsystem): Unit = chip.sbus.coupleFrom("shared_units") { _ := ports }

  lazy val module = new SharedUnitsModule(this)
}

object SharedUnits {

  /** Answers that are due. */
  val due = 16
}

/** The turns of the harts. */
class SharedUnitsModule(outer: SharedUnits) extends LazyModuleImp(outer) {
  private val units = outer.units.module.io
  private val harts = outer.harts.map(_.bundle)
  private val turns = Module(new RRArbiter(new SharedCommand, harts.size))
  turns.io.in.zip(harts).foreach { case (turn, hart) => turn <> hart.command }
  private val next = turns.io.out
  private val askers = Module(new Queue(UInt(log2Up(harts.size).W), SharedUnits.due))

  units := DontCare
  private val goes = !next.bits.xd || askers.io.enq.ready
  units.cmd.valid := next.valid && goes
  next.ready := units.cmd.ready && goes
  units.cmd.bits.inst.opcode := next.bits.opcode
  units.cmd.bits.inst.funct := next.bits.funct
  units.cmd.bits.inst.rd := next.bits.rd
  units.cmd.bits.inst.xd := next.bits.xd
  units.cmd.bits.rs1 := next.bits.rs1
  units.cmd.bits.rs2 := next.bits.rs2
  askers.io.enq.valid := next.valid && next.bits.xd && units.cmd.ready
  askers.io.enq.bits := turns.io.chosen

  private val answers = Queue(units.resp, 1, pipe = true)
  private val asker = askers.io.deq.bits
  harts.zipWithIndex.foreach { case (hart, number) =>
    hart.answer.valid := answers.valid && asker === number.U
    hart.answer.bits.rd := answers.bits.rd
    hart.answer.bits.data := answers.bits.data
    hart.busy := units.busy || askers.io.deq.valid
    hart.interrupt := units.interrupt
  }
  answers.ready := VecInit(harts.map(_.answer.ready))(asker)
  askers.io.deq.ready := answers.valid && answers.ready
  units.exception := false.B
}
