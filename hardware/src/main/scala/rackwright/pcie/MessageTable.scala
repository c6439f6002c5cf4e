package rackwright.pcie

import chisel3._
import chisel3.util._

/** An access to the table of messages: one or two words of it. */
class TableAccess extends Bundle {

  /** Offset in the upper half of the register window. */
  val offset = UInt(MessageTable.offsetBits.W)
  val write = Bool()

  /** Both words of eight bytes are meant, or only the one at the offset. */
  val wide = Bool()
  val data = UInt(64.W)
}

/** Interrupts as messages (MSI-X: PCI Express 5.0, 6.1.4 and 7.7.2): the table of vectors, their pending bits, and the
  * write that each raised vector becomes.
  *
  * A vector that is raised again before its message has been selected is merged with it. Masked vectors stay pending.
  * Among several, the one with the lowest number is first.
  */
class MessageTable(vectors: Int) extends Module {
  require(vectors >= 1 && vectors <= MessageTable.most, s"a function has 1 to ${MessageTable.most} vectors")
  import MessageTable._

  val access = IO(Flipped(Valid(new TableAccess)))

  /** The value of a read, in the same cycle. */
  val value = IO(Output(UInt(64.W)))
  val settings = IO(Input(new FunctionSettings))

  /** Vectors that are raised in this cycle. */
  val raise = IO(Input(UInt(vectors.W)))
  val packet = IO(Decoupled(new PacketBeat))
  val idle = IO(Output(Bool()))

  private class Vector extends Bundle {
    val masked = Bool()
    val data = UInt(32.W)

    /** Of a word: without the lowest two bits. */
    val address = UInt(62.W)
  }
  private val table = RegInit(VecInit.fill(vectors) {
    val reset = Wire(new Vector)
    reset.masked := true.B
    reset.data := 0.U
    reset.address := 0.U
    reset
  })
  private val pending = RegInit(0.U(vectors.W))

  // Registers: of each vector an address, and data with the mask.
  private val numberBits = log2Ceil(vectors).max(1)
  private val inTable = !access.bits.offset(offsetBits - 1)
  private val number = access.bits.offset(4 + numberBits - 1, 4)
  private val exists = access.bits.offset(offsetBits - 2, 4) < vectors.U
  private val vector = table(number)
  private val inPending = access.bits.offset === pendingOffset.U
  value := MuxCase(
    0.U,
    Seq(
      (inTable && exists) -> Mux(
        access.bits.offset(3),
        Cat(0.U(31.W), vector.masked, vector.data),
        Cat(vector.address, 0.U(2.W))
      ),
      inPending -> pending.pad(64)
    )
  )
  private val writesTable = access.valid && access.bits.write && inTable && exists
  private val low = access.bits.wide || !access.bits.offset(2)
  private val high = access.bits.wide || access.bits.offset(2)
  private val upper = Mux(access.bits.wide, access.bits.data(63, 32), access.bits.data(31, 0))
  when(writesTable) {
    when(access.bits.offset(3)) {
      when(low) { vector.data := access.bits.data(31, 0) }
      when(high) { vector.masked := upper(0) }
    }.otherwise {
      val kept = Cat(vector.address, 0.U(2.W))
      val address = Cat(Mux(high, upper, kept(63, 32)), Mux(low, access.bits.data(31, 0), kept(31, 0)))
      vector.address := address(63, 2)
    }
  }

  private object State extends ChiselEnum { val choose, head, data = Value }
  private val state = RegInit(State.choose)
  private val address = Reg(UInt(64.W))
  private val word = Reg(UInt(32.W))
  private val free = VecInit(table.map(!_.masked)).asUInt
  private val open =
    Mux(settings.messagesEnabled && !settings.messagesMasked && settings.masterEnabled, pending & free, 0.U)
  private val chosen = PriorityEncoder(open)
  private val takes = state === State.choose && open.orR
  // Without the right to send messages, nothing is remembered either.
  private val raised = Mux(settings.messagesEnabled, pending | raise, 0.U)
  pending := raised & ~Mux(takes, UIntToOH(chosen, vectors), 0.U)
  when(takes) {
    address := Cat(table(chosen).address, 0.U(2.W))
    word := table(chosen).data
    state := State.head
  }

  private val header = Header.request(write = true, settings.id, 0.U, address, 1.U)
  packet.valid := state =/= State.choose
  packet.bits.data := Mux(state === State.head, Header.toBeat(header), word)
  packet.bits.keep := Mux(state === State.head, Fill(Params.beatBytes, 1.U(1.W)), "hf".U)
  packet.bits.last := state === State.data
  packet.bits.credits := 1.U
  when(packet.fire) { state := Mux(state === State.head, State.data, State.choose) }
  idle := state === State.choose && !open.orR && !raise.orR
}

object MessageTable {

  /** Vectors that fit into the window. */
  val most: Int = 32

  /** The upper half of the register window: the table, and from `pendingOffset` on the pending bits. */
  val offset: Int = 0x800
  val offsetBits: Int = 11
  val pendingOffset: Int = 0x400
}

/** Joins two flows of packets, without interrupting a packet; the first one has precedence.
  *
  * @param steady
  *   a packet that has begun is valid up to its end: then, whether there is one does not depend on which leaves.
  */
class PacketJoin(steady: Boolean = false) extends Module {
  val first = IO(Flipped(Decoupled(new PacketBeat)))
  val second = IO(Flipped(Decoupled(new PacketBeat)))
  val out = IO(Decoupled(new PacketBeat))

  private val within = RegInit(false.B)
  private val inFirst = RegInit(false.B)
  private val takesFirst = Mux(within, inFirst, first.valid)
  out.valid := (if (steady) first.valid || second.valid else Mux(takesFirst, first.valid, second.valid))
  out.bits := Mux(takesFirst, first.bits, second.bits)
  first.ready := out.ready && takesFirst
  second.ready := out.ready && !takesFirst
  when(out.fire) {
    within := !out.bits.last
    inFirst := takesFirst
  }
}
