package rackwright.pcie

import chisel3._
import chisel3.util._

/** Credits of the three classes, as the packets of the data link layer carry them (PCI Express 5.0, 2.6.1, 3.5). */
object Credits {
  val headerBits: Int = 8
  val dataBits: Int = 12

  /** The classes, by their numbers in packets. */
  val posted: Int = 0
  val nonPosted: Int = 1
  val completion: Int = 2
  val classes: Int = 3

  /** Packets with the first credits, and later ones: the upper half of the first byte, without the class. */
  val initial: UInt = 1.U(2.W)
  val update: UInt = 2.U(2.W)

  /** The four bytes of a packet, the first in the low bits. */
  def pack(kind: UInt, of: UInt, headers: UInt, data: UInt): UInt =
    Cat(data(7, 0), headers(1, 0), 0.U(2.W), data(11, 8), 0.U(2.W), headers(7, 2), kind, of(1, 0), 0.U(4.W))
}

/** The credits of one class in a packet of the data link layer. */
class CreditUpdate extends Bundle {
  val initial = Bool()
  val of = UInt(2.W)
  val headers = UInt(Credits.headerBits.W)
  val data = UInt(Credits.dataBits.W)
}

object CreditUpdate {
  def ofBytes(bytes: UInt): CreditUpdate = {
    val update = Wire(new CreditUpdate)
    update.initial := bytes(7, 6) === Credits.initial
    update.of := bytes(5, 4)
    update.headers := Cat(bytes(13, 8), bytes(23, 22))
    update.data := Cat(bytes(19, 16), bytes(31, 24))
    update
  }
}

/** Counts the credits of one class that the function has at the other end of its link.
  *
  * A packet may leave if the consumed credits, including its own, do not exceed the limit: both are numbers modulo a
  * power of two. An initial limit of 0 means that there is none.
  */
class CreditGate extends Module {

  /** A limit that arrives, of this class. */
  val update = IO(Flipped(Valid(new CreditUpdate)))

  /** The cost of the next packet, and whether it may leave. */
  val cost = IO(Input(UInt(Credits.dataBits.W)))
  val open = IO(Output(Bool()))

  /** It goes. */
  val take = IO(Input(Bool()))

  private val known = RegInit(false.B)
  private val headers = Module(new CreditCount(Credits.headerBits))
  private val data = Module(new CreditCount(Credits.dataBits))
  headers.limit := update.bits.headers
  headers.cost := 1.U
  data.limit := update.bits.data
  data.cost := cost
  Seq(headers, data).foreach { count =>
    count.limited := update.valid
    count.initial := update.bits.initial && !known
    count.take := take
  }
  when(update.valid && update.bits.initial) { known := true.B }
  open := known && headers.enough && data.enough
  assert(!take || open, "a packet leaves without credits")
}

/** The one kind of credits in a [[CreditGate]]. */
private class CreditCount(bits: Int) extends Module {
  val limit = IO(Input(UInt(bits.W)))
  val limited = IO(Input(Bool()))
  val initial = IO(Input(Bool()))
  val cost = IO(Input(UInt(bits.W)))
  val enough = IO(Output(Bool()))
  val take = IO(Input(Bool()))

  private val infinite = RegInit(false.B)
  private val granted = RegInit(0.U(bits.W))
  private val consumed = RegInit(0.U(bits.W))
  when(limited) {
    granted := limit
    when(initial) { infinite := limit === 0.U }
  }
  when(take) { consumed := consumed + cost }
  // In half of the numbers below the limit, the packet fits (2.6.1.2).
  enough := infinite || !(granted - (consumed + cost))(bits - 1)
}
