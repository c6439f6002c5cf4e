package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Lengths and checksums of a frame to send. */
class Rewritten extends Bundle {
  val order = new Order
  val total = UInt(16.W)
  val internetSum = UInt(16.W)
  val udpLength = UInt(16.W)
  val udpSum = UInt(16.W)
}

/** Updates the checksums of a frame incrementally from its changed words (RFC 1624), one word in a cycle. */
class Sums extends Module {
  val in = IO(Flipped(Decoupled(new Order)))

  /** The report that the order inserts is sealed; its sum. */
  val isSealed = IO(Input(Bool()))
  val reportSum = IO(Input(UInt(16.W)))
  val out = IO(Decoupled(new Rewritten))
  val idle = IO(Output(Bool()))

  private val busy = RegInit(false.B)
  private val order = Reg(new Order)
  private val step = Reg(UInt(4.W))
  private val internet = Reg(UInt(16.W))
  private val udp = Reg(UInt(16.W))
  private val length = Reg(UInt(16.W))
  private val steps = Sums.steps
  private val fields = order.fields
  private val resized = order.strip || order.insert || order.action === Action.own
  private val changes = order.action === Action.rewrite || order.action === Action.own
  private val last = Mux(changes, Mux(resized, steps.U, Sums.plainSteps.U), 0.U)

  in.ready := !busy || (out.fire)
  idle := !busy
  private val oldKind = Cat(1.U(8.W), fields.kind)
  private val newKind = Cat(1.U(8.W), order.kind)
  private val total = length + 20.U
  private val address = order.target.address
  private val stripped = Mux(order.strip, ~order.stripSum, 0.U)
  private val both = Seq(
    ~fields.address(31, 16) -> ~fields.address(31, 16),
    ~fields.address(15, 0) -> ~fields.address(15, 0),
    address(31, 16) -> address(31, 16),
    address(15, 0) -> address(15, 0),
    ~fields.total -> ~fields.port,
    total -> order.target.port,
    0.U -> ~oldKind,
    0.U -> newKind,
    0.U -> ~fields.udpLength,
    0.U -> ~fields.udpLength,
    0.U -> length,
    0.U -> length,
    0.U -> stripped,
    0.U -> Mux(order.insert, reportSum, 0.U)
  )
  require(both.size == steps, "every word has its step")
  private def term(of: Seq[UInt]): UInt = MuxLookup(step, 0.U(16.W))(of.zipWithIndex.map { case (t, i) => i.U -> t })
  private val waits = order.insert && !isSealed && step === (steps - 1).U

  when(busy && step =/= last && !waits) {
    internet := OnesComplement.add(internet, term(both.map(_._1)))
    udp := OnesComplement.add(udp, term(both.map(_._2)))
    step := step + 1.U
  }
  when(out.fire) { busy := false.B }
  when(in.fire) {
    val taken = in.bits
    busy := true.B
    step := 0.U
    order := taken
    internet := ~taken.fields.internetSum
    udp := ~taken.fields.udpSum
    length := taken.fields.udpLength -
      Mux(taken.strip, Sums.redirectedBytes(taken.stripEntries), 0.U) +
      Mux(
        taken.insert,
        Mux(
          taken.action === Action.own,
          Sums.gossipBytes(taken.insertEntries),
          Sums.redirectedBytes(taken.insertEntries)
        ),
        0.U
      )
  }

  out.valid := busy && step === last
  out.bits.order := order
  out.bits.total := total
  out.bits.udpLength := length
  out.bits.internetSum := ~internet
  private val sum = Mux(udp.andR, 0xffff.U, ~udp)
  out.bits.udpSum := Mux(fields.udpSum === 0.U, 0.U, sum)
}

/** Sizes and steps of checksums. */
object Sums {

  /** The number of changed words in a frame with only a rewritten address. */
  val plainSteps: Int = 6

  /** The most changed words of any frame. */
  val steps: Int = 14

  /** Size in bytes of gossip after its header. */
  def gossipBytes(entries: UInt): UInt = Cat(entries, 0.U(3.W)) +& 20.U

  /** Size in bytes of what precedes a redirected request. */
  def redirectedBytes(entries: UInt): UInt = gossipBytes(entries) +& 8.U

  /** The fields of a blank message of the unit's own: their sums are those of its constant header words. */
  def ownFields: Fields = {
    val internet = 0x4500 + 0x4000 + 0x4011
    val length = 8 + Sizes.messageBytes
    val udp = 0x11 + 0x5244 + 0x100 + 2 * length
    val fields = Wire(new Fields)
    fields.total := 0.U
    fields.internetSum := (0xffff - internet % 0xffff).U
    fields.address := 0.U
    fields.port := 0.U
    fields.udpLength := length.U
    fields.udpSum := (0xffff - udp % 0xffff).U
    fields.kind := 0.U
    fields
  }
}
