package rackwright.unit

import scala.collection.mutable

import chisel3._
import chisel3.util.{Decoupled, DecoupledIO}

import rackwright.port._

/** The top of a unit: a module whose ports are those of contract 3.
  *
  * Create each port with the method of its kind; the manifest is generated from the ports created here, and thus agrees
  * with the Verilog.
  */
abstract class HardwareUnit extends Module {
  private val made = mutable.ArrayBuffer.empty[(Data, String => PortDescription)]

  /** The ports in the order of their creation, under their final names. */
  def ports: Seq[PortDescription] = madePorts.map(_._2)

  /** The same, each with its hardware. */
  private[rackwright] def madePorts: Seq[(Data, PortDescription)] =
    made.toSeq.map { case (port, describe) => port -> describe(port.instanceName) }

  /** Cycles per second of the clock for which the unit is designed; by default, that of the papers' accelerators
    * (Karandikar 2024, section 7.5).
    */
  def hertz: Long = 2000000000L

  /** The places where it may be attached: by default beside a hart, if its ports allow this. */
  def attach: Seq[Attach] = {
    val isReached = ports.exists {
      case _: CommandDescription | _: MmioDescription => true
      case _ => false
    }
    Option.when(isReached)(Attach.Hart).toSeq
  }

  /** Commands that leave the core with one of `opcodes` (n of custom-n), for a unit that does not list them.
    */
  protected def commandPort(opcodes: Int*): CommandPort = commandPort(CommandSet(), opcodes: _*)

  /** The `commands` that leave the core with one of `opcodes`. */
  protected def commandPort(commands: CommandSet, opcodes: Int*): CommandPort = {
    checkOpcodes(opcodes)
    add(IO(new CommandPort))(CommandDescription(_, opcodes, commands))
  }

  /** The same for a unit that translates addresses itself. */
  protected def translatedCommandPort(commands: CommandSet, opcodes: Int*): TranslatedCommandPort = {
    checkOpcodes(opcodes)
    add(IO(new TranslatedCommandPort))(CommandDescription(_, opcodes, commands, translated = true))
  }

  private def checkOpcodes(opcodes: Seq[Int]): Unit = require(
    opcodes.forall(o => o >= 0 && o <= 3),
    s"a RoCC opcode is custom-0 to custom-3, not ${opcodes.mkString(", ")}"
  )

  /** A memory port; `intermediate` if it reads back data that the unit itself has written. */
  protected def memoryPort(params: MemoryPortParams, intermediate: Boolean = false): MemoryPort =
    add(IO(new MemoryPort(params)))(MemoryDescription(_, params, intermediate))

  /** A port through which the core reads and writes `registers`; none for a unit that does not list them. */
  protected def mmioPort(registers: RegisterMap = RegisterMap()): MmioPort = queuePort(registers, CommandSet())

  /** The same for registers that are a queue of `commands`, each with one of `opcodes`. */
  protected def queuePort(registers: RegisterMap, commands: CommandSet, opcodes: Int*): MmioPort =
    add(IO(Flipped(new MmioPort)))(MmioDescription(_, registers, opcodes, commands))

  /** An AXI4 master; `intermediate` as of a memory port. */
  protected def axi4Port(params: Axi4Params, intermediate: Boolean): Axi4Port =
    add(IO(new Axi4Port(params)))(Axi4Description(_, params, intermediate))

  /** A port through which frames leave. */
  protected def streamOutput(bytes: Int): DecoupledIO[StreamFlit] =
    add(IO(Decoupled(new StreamFlit(bytes))))(StreamDescription(_, outward = true, bytes))

  /** A port through which frames arrive. */
  protected def streamInput(bytes: Int): DecoupledIO[StreamFlit] =
    add(IO(Flipped(Decoupled(new StreamFlit(bytes)))))(StreamDescription(_, outward = false, bytes))

  /** Output: the interrupt line, high while it is active; the pin is `interrupt_<name>`. */
  protected def interruptPort(name: String): Bool =
    add(IO(Output(Bool())))(_ => InterruptDescription(name)).suggestName(s"interrupt_$name")

  /** Output: the unit is inactive until a command, a register access, a flit or a response of memory arrives. */
  protected def idlePort(): Bool = add(IO(Output(Bool())))(IdleDescription(_))

  /** Names `signal` as the event `name`: its value is added up by the profiling layer in every cycle.
    *
    * @param name
    *   lower case with underscores; the pin is `event_<name>`.
    */
  protected def event(name: String, signal: UInt): Unit = {
    require(name.matches("[a-z][a-z0-9_]*"), s"an event's name is lower case with underscores, not '$name'")
    val width = signal.widthOption.getOrElse(1)
    val pin = add(IO(Output(UInt(width.W))))(_ => EventDescription(name, width)).suggestName(s"event_$name")
    pin := signal
  }

  private def add[T <: Data](port: T)(describe: String => PortDescription): T = {
    made += ((port, describe))
    port
  }
}
