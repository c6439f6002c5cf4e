package rackwright.noc

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit
import rackwright.stream.HeadQueue

/** The interface between a tile and its router: packets enter and leave as streams of whole flits.
  *
  * The first eight bytes of a packet are its header: destination (x in byte 0, y in byte 1), then source (x in byte 2,
  * y in byte 3), which is written here, and four bytes of the sender's own. A packet to a place without a tile is
  * accepted, dropped and reported.
  */
class NetworkInterface(params: NocParams) extends Module {
  import NetworkInterface._

  val here = IO(Input(new Place))
  val fromTile = IO(Flipped(Decoupled(new StreamFlit(params.flitBytes))))
  val toTile = IO(Decoupled(new StreamFlit(params.flitBytes)))
  val toRouter = IO(new Link(params.flitBytes))
  val fromRouter = IO(Flipped(new Link(params.flitBytes)))
  val idle = IO(Output(Bool()))

  /** The last flit of a packet without a destination is dropped in this cycle. */
  val refused = IO(Output(Bool()))

  private val first = RegInit(true.B)
  private val keptPlace = Reg(new Place)
  private val keptRefusal = Reg(Bool())
  private val header = fromTile.bits.data(63, 0).asTypeOf(new Header)
  private val headerPlace = Wire(new Place)
  headerPlace.x := header.destinationX
  headerPlace.y := header.destinationY
  private val outside = header.destinationX >= params.width.U || header.destinationY >= params.height.U
  private val place = Mux(first, headerPlace, keptPlace)
  private val refuses = Mux(first, outside, keptRefusal)
  private val queue = params.order.leave(here, place)

  private val credits = Module(new Credits(params.order.turns(Side.Own), params.depth))
  fromTile.ready := refuses || (queue & credits.available).orR
  private val sends = fromTile.fire && !refuses
  when(fromTile.fire) {
    first := fromTile.bits.last
    keptPlace := place
    keptRefusal := refuses
  }
  refused := fromTile.fire && refuses && fromTile.bits.last

  private val signed = WireInit(header)
  signed.sourceX := here.x
  signed.sourceY := here.y
  private val data = Mux(first, (fromTile.bits.data >> 64) ## signed.asUInt, fromTile.bits.data)
  credits.spend := Mux(sends, queue, 0.U)
  credits.returned := RegNext(toRouter.credits, 0.U)
  toRouter.valid := RegNext(sends, false.B)
  toRouter.queue := RegEnable(queue, sends)
  toRouter.flit.data := RegEnable(data, sends)
  toRouter.flit.last := RegEnable(fromTile.bits.last, sends)
  toRouter.flit.destination := RegEnable(place, sends)

  private val arrived = Module(new HeadQueue(new MeshFlit(params.flitBytes), params.depth, gapless = true))
  arrived.in.valid := fromRouter.valid
  arrived.in.bits := fromRouter.flit
  fromRouter.credits := Mux(arrived.out.fire, (1 << Side.Own.index).U, 0.U)
  toTile.valid := arrived.out.valid
  arrived.out.ready := toTile.ready
  toTile.bits.data := arrived.out.bits.data
  toTile.bits.last := arrived.out.bits.last
  toTile.bits.keep := Fill(params.flitBytes, 1.U)
  assert(!arrived.in.valid || arrived.in.ready, "a flit arrives that has no place")
  idle := credits.complete && !toRouter.valid && toRouter.credits === 0.U
}

/** The layout of a packet. */
object NetworkInterface {

  /** The first eight bytes of a packet, the first field in the high bits. */
  class Header extends Bundle {
    val own = UInt(32.W)
    val sourceY = UInt(8.W)
    val sourceX = UInt(8.W)
    val destinationY = UInt(8.W)
    val destinationX = UInt(8.W)
  }
}
