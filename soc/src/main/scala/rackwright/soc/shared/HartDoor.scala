package rackwright.soc

import chisel3._
import chisel3.util._

import freechips.rocketchip.config.Parameters
import freechips.rocketchip.diplomacy.BundleBridgeSource
import freechips.rocketchip.tile.{LazyRoCC, LazyRoCCModuleImp, OpcodeSet}

/** A command for units that several harts share. */
class SharedCommand extends Bundle {
  val opcode = UInt(7.W)
  val funct = UInt(7.W)
  val rs1 = UInt(64.W)
  val rs2 = UInt(64.W)
  val rd = UInt(5.W)
  val xd = Bool()
}

/** The answer to a command: a value for a register of the hart. */
class SharedAnswer extends Bundle {
  val rd = UInt(5.W)
  val data = UInt(64.W)
}

/** What a hart and the units that it shares with others say to each other, seen from the hart. */
class SharedPort extends Bundle {
  val command = Decoupled(new SharedCommand)
  val answer = Flipped(Decoupled(new SharedAnswer))
  val busy = Input(Bool())
  val interrupt = Input(Bool())
}

/** What a hart has beside it of units that all harts share: its commands leave by `node`. */
class HartDoor(opcodes: OpcodeSet)(implicit p: Parameters) extends LazyRoCC(opcodes) {
  val node = BundleBridgeSource(() => new SharedPort)

  override lazy val module = new HartDoorModule(this)
}

/** Its connections. */
class HartDoorModule(outer: HartDoor) extends LazyRoCCModuleImp(outer) {
  private val port = outer.node.bundle
  private val command = io.cmd.bits

  port.command.valid := io.cmd.valid
  port.command.bits.opcode := command.inst.opcode
  port.command.bits.funct := command.inst.funct
  port.command.bits.rs1 := command.rs1
  port.command.bits.rs2 := command.rs2
  port.command.bits.rd := command.inst.rd
  port.command.bits.xd := command.inst.xd
  io.cmd.ready := port.command.ready

  io.resp.valid := port.answer.valid
  io.resp.bits.rd := port.answer.bits.rd
  io.resp.bits.data := port.answer.bits.data
  port.answer.ready := io.resp.ready

  io.busy := port.busy
  io.interrupt := port.interrupt
  io.mem := DontCare
  io.mem.req.valid := false.B
  io.fpu_req := DontCare
  io.fpu_req.valid := false.B
  io.fpu_resp.ready := false.B
}
