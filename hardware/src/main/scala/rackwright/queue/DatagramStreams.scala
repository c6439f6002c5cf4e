package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** Packets as datagrams of a connected socket: those that go in get the header of a datagram to the peer of the
  * register of that name, those that come out lose theirs.
  *
  * @param most
  *   bytes of a packet.
  */
class DatagramStreams(most: Int) extends Module {
  import DatagramStreams._

  val service = IO(Flipped(new ServicePort))

  /** To and from a unit whose frames begin with 16 bytes: peer, its port, the own port; at 12 bytes of data. */
  val toUnit = IO(Decoupled(new StreamFlit(8)))
  val fromUnit = IO(Flipped(Decoupled(new StreamFlit(8))))

  /** The unit has nothing to do. */
  val unitIdle = IO(Input(Bool()))

  private val sends = RegInit(Step.size)
  private val left = Reg(UInt(16.W))
  private val length = Reg(UInt(16.W))
  private val wrong = service.in.bits === 0.U || service.in.bits > most.U
  private val isLast = left <= 8.U
  private val gives = sends === Step.data && (service.in.valid || service.abort)
  service.wrong := sends === Step.size && service.in.valid && wrong
  service.in.ready := sends === Step.size || sends === Step.data && toUnit.ready
  toUnit.valid := sends === Step.first || sends === Step.second || gives
  toUnit.bits.data := MuxLookup(sends, service.in.bits)(
    Seq(Step.first -> swapped(service.peer, 8), Step.second -> swapped(length, 2) ## 0.U(32.W))
  )
  toUnit.bits.last := sends === Step.data && (isLast || service.abort)
  toUnit.bits.keep := Mux(sends === Step.data && isLast, (1.U << left(3, 0)) - 1.U, 0xff.U)
  switch(sends) {
    is(Step.size) {
      when(service.in.fire && !wrong && !service.abort) {
        length := service.in.bits
        left := service.in.bits
        sends := Step.first
      }
    }
    is(Step.first) { when(toUnit.fire) { sends := Step.second } }
    is(Step.second) { when(toUnit.fire) { sends := Step.data } }
    is(Step.data) {
      when(toUnit.fire) {
        left := left - 8.U
        when(toUnit.bits.last) { sends := Step.size }
      }
    }
  }

  private val receives = RegInit(Step.first)
  private val flit = fromUnit.bits
  private val bytes = swapped(flit.data(47, 32), 2)
  private val valid = VecInit(flit.data.asTypeOf(Vec(8, UInt(8.W))).zip(flit.keep.asBools).map { case (byte, kept) =>
    Mux(kept, byte, 0.U)
  }).asUInt
  fromUnit.ready := receives === Step.first || service.out.ready
  service.out.valid := fromUnit.valid && receives =/= Step.first
  service.out.bits.data := Mux(receives === Step.second, bytes, valid)
  service.out.bits.last := flit.last
  when(fromUnit.fire) {
    receives := Mux(flit.last, Step.first, Mux(receives === Step.first, Step.second, Step.data))
  }

  service.setting.ready := true.B
  private val waits = (sends === Step.size || sends === Step.data && !service.abort) && !service.in.valid
  service.quiet := waits && unitIdle && !fromUnit.valid
}

object DatagramStreams {

  /** What is next of a packet: its size, both flits of the header, data. */
  object Step extends ChiselEnum {
    val size, first, second, data = Value
  }

  /** The first byte last. */
  private def swapped(value: UInt, bytes: Int): UInt =
    VecInit((0 until bytes).reverse.map(i => value(8 * i + 7, 8 * i))).asUInt
}
