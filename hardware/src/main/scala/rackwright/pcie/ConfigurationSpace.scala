package rackwright.pcie

import chisel3._
import chisel3.util._

/** The identity of a function in its configuration space.
  *
  * @param vendor
  *   number of the vendor, and of the device.
  * @param windowBits
  *   for each window, the logarithm of its bytes.
  * @param vectors
  *   interrupts that it sends as messages.
  */
case class Identity(vendor: Int, device: Int, classCode: Int, windowBits: Seq[Int], vectors: Int)

/** An access to a register of the configuration space. */
class ConfigurationAccess extends Bundle {

  /** Number of the word. */
  val register = UInt(10.W)
  val write = Bool()
  val enables = UInt(4.W)
  val data = UInt(32.W)

  /** Bus, device and function to which it went. */
  val id = UInt(16.W)
}

/** The configuration space of a function with two windows of memory: the header of type 0, and the capabilities of PCI
  * Express and of MSI-X (PCI Express 5.0, 7.5.1.2, 7.5.3 and 7.7.2). Words that it does not have are `elsewhere`.
  */
class ConfigurationSpace(identity: Identity) extends Module {
  require(identity.windowBits.size == FunctionSettings.windows, "a function has two windows")
  import ConfigurationSpace._

  val access = IO(Flipped(Valid(new ConfigurationAccess)))

  /** The value of a read, in the same cycle. */
  val value = IO(Output(UInt(32.W)))
  val settings = IO(Output(new FunctionSettings))

  /** The device status register, and the words that are elsewhere: those of error reporting. */
  val status = IO(Input(UInt(4.W)))
  val elsewhere = IO(Input(UInt(32.W)))

  private val id = RegInit(0.U(16.W))
  private val command = RegInit(0.U(16.W))
  private val cacheLine = RegInit(0.U(8.W))
  private val line = RegInit(0.U(8.W))
  private val control = RegInit(defaultControl.U(16.W))
  private val messagesEnabled = RegInit(false.B)
  private val messagesMasked = RegInit(false.B)
  private val bases = RegInit(VecInit.fill(FunctionSettings.windows)(0.U(64.W)))

  private def lowOf(window: Int): UInt =
    Cat(bases(window)(31, identity.windowBits(window)), 0.U((identity.windowBits(window) - 4).W), windowKind)
  private val windows = (0 until FunctionSettings.windows).flatMap { window =>
    Seq((Word.windows + 2 * window) -> lowOf(window), (Word.windows + 2 * window + 1) -> bases(window)(63, 32))
  }
  private val words = Seq(
    Word.identity -> Cat(identity.device.U(16.W), identity.vendor.U(16.W)),
    Word.command -> Cat(hasCapabilities.U(16.W), command),
    Word.classCode -> Cat(identity.classCode.U(24.W), 1.U(8.W)),
    Word.header -> Cat(0.U(24.W), cacheLine),
    Word.subsystem -> Cat(identity.device.U(16.W), identity.vendor.U(16.W)),
    Word.capabilities -> Capability.offset.U(32.W),
    Word.interrupt -> line.pad(32),
    Capability.header -> Capability.headerValue.U(32.W),
    Capability.device -> Capability.deviceValue.U(32.W),
    Capability.control -> Cat(0.U(12.W), status, control),
    Capability.device2 -> Capability.timeOutDisable.U(32.W),
    Messages.header -> Cat(
      messagesEnabled,
      messagesMasked,
      (identity.vectors - 1).U(14.W),
      Messages.headerValue.U(16.W)
    ),
    Messages.table -> MessageTable.offset.U(32.W),
    Messages.pending -> (MessageTable.offset + MessageTable.pendingOffset).U(32.W)
  ) ++ windows
  value := MuxLookup(access.bits.register, elsewhere)(words.map { case (number, word) => number.U -> word })

  // A function takes its number from each write that reaches it (2.2.6.2).
  private val write = access.valid && access.bits.write
  when(write) { id := access.bits.id }
  private val mask = Cat(access.bits.enables.asBools.reverse.map(Fill(8, _)))
  private def change(number: Int, old: UInt)(set: UInt => Unit): Unit =
    when(write && access.bits.register === number.U) { set(access.bits.data & mask | old.pad(32) & ~mask) }
  change(Word.command, command)(word => command := word & commandBits.U)
  change(Word.header, cacheLine)(word => cacheLine := word)
  change(Word.interrupt, line)(word => line := word)
  change(Capability.control, control)(word => control := word & controlBits.U)
  change(
    Messages.header,
    Cat(messagesEnabled, messagesMasked, 0.U(30.W))
  ) { word =>
    messagesEnabled := word(31)
    messagesMasked := word(30)
  }
  bases.zipWithIndex.foreach { case (base, window) =>
    val first = Word.windows + 2 * window
    val fixed = (BigInt(1) << identity.windowBits(window)) - 1
    change(first, base(31, 0))(word => base := Cat(base(63, 32), word & ~fixed.U(32.W)))
    change(first + 1, base(63, 32))(word => base := Cat(word, base(31, 0)))
  }

  settings.id := id
  settings.memoryEnabled := command(1)
  settings.masterEnabled := command(2)
  settings.payload := control(7, 5)
  settings.readRequest := control(14, 12)
  settings.extendedTags := control(8)
  settings.reports := control(3, 0)
  settings.messagesEnabled := messagesEnabled
  settings.messagesMasked := messagesMasked
  settings.windows := bases
}

object ConfigurationSpace {

  /** Numbers of words. */
  private object Word {
    val identity = 0x0
    val command = 0x1
    val classCode = 0x2
    val header = 0x3
    val windows = 0x4
    val subsystem = 0xb
    val capabilities = 0xd
    val interrupt = 0xf
  }

  /** The capability of PCI Express: an endpoint of version 2, the first one in the list. */
  private object Capability {
    val offset = 0x40
    val header = offset / 4
    val device = header + 1
    val control = header + 2
    val device2 = header + 9
    val headerValue = 0x00020010 | Messages.offset << 8

    /** Payloads of 512 bytes, tags of eight bits, errors by their role. */
    val deviceValue = 2 | 1 << 5 | 1 << 15

    /** Time-outs cannot be set, and not be disabled. */
    val timeOutDisable = 0
  }

  /** The capability of MSI-X, the last one; table and pending bits are in the first window. */
  private object Messages {
    val offset = 0x80
    val header = offset / 4
    val table = header + 1
    val pending = header + 2
    val headerValue = 0x0011
  }

  /** Prefetchable memory with 64-bit addresses: reads of a window have no side effects. */
  private val windowKind = "hc".U(4.W)
  private val hasCapabilities = 0x10

  /** Memory, bus master, parity, system errors, no legacy interrupts. */
  private val commandBits = 0x0546

  /** Errors to report, relaxed ordering, payload, extended tags, no snooping, read requests. */
  private val controlBits = 0x79ff

  /** Relaxed ordering, extended tags, no snooping, payloads of 128 bytes, reads of 512 (7.5.3.4). */
  private val defaultControl = 0x2910
}
