package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The first seven flits of a frame with their rewritten fields, or of a message of the unit's own, whose original
  * addresses are zero.
  */
class Headers extends Module {
  val work = IO(Input(new Rewritten))
  val index = IO(Input(UInt(12.W)))
  val flit = IO(Input(UInt(64.W)))
  val out = IO(Output(UInt(64.W)))

  private val own = work.order.action === Action.own
  private val target = work.order.target
  private def swap(number: UInt): UInt = BigEndian.swap(number)

  /** The first bytes of each flit are its low bits. */
  private val ownFlits = VecInit(
    0.U(64.W),
    "h00450008_00000000".U(64.W),
    "h1140_0040_0000_0000".U(64.W),
    0.U(64.W),
    0.U(64.W),
    Cat(0.U(16.W), 0.U(8.W), 1.U(8.W), Classifier.magic, 0.U(16.W)),
    0.U(64.W),
    0.U(64.W)
  )
  private val base = Mux(own, ownFlits(index(2, 0)), flit)

  out := MuxLookup(index, base)(
    Seq(
      0.U -> Cat(base(63, 48), swap(target.mac)),
      2.U -> Cat(base(63, 16), swap(work.total)),
      3.U -> Cat(swap(target.address(31, 16)), base(47, 16), swap(work.internetSum)),
      4.U -> Cat(swap(work.udpLength), swap(target.port), base(31, 16), swap(target.address(15, 0))),
      5.U -> Cat(base(63, 48), work.order.kind, base(39, 16), swap(work.udpSum))
    )
  )
}
