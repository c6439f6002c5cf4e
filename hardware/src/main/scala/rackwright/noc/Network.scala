package rackwright.noc

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** A mesh of routers, with an interface at each tile. */
class Network(params: NocParams) extends Module {
  private val tiles = params.width * params.height

  /** The packets of each tile, by its number. */
  val in = IO(Vec(tiles, Flipped(Decoupled(new StreamFlit(params.flitBytes)))))
  val out = IO(Vec(tiles, Decoupled(new StreamFlit(params.flitBytes))))

  /** It is empty. */
  val idle = IO(Output(Bool()))

  /** Number of sides of each router at which a flit waits in this cycle. */
  val waiting = IO(Output(Vec(tiles, UInt(log2Ceil(Side.bits + 1).W))))

  /** A packet without a destination, of each tile, that ends in this cycle. */
  val refused = IO(Output(Vec(tiles, Bool())))

  private val places = for (y <- 0 until params.height; x <- 0 until params.width) yield (x, y)
  private val sides = places.map { case (x, y) => Side.all.filter(params.has(x, y, _)) }
  private val routers = sides.map(sides => Module(new Router(sides, params)))
  private val interfaces = places.map(_ => Module(new NetworkInterface(params)))

  places.zipWithIndex.foreach { case ((x, y), tile) =>
    val (router, interface) = (routers(tile), interfaces(tile))
    val here = Wire(new Place)
    here.x := x.U
    here.y := y.U
    router.here := here
    interface.here := here
    interface.fromTile <> in(tile)
    out(tile) <> interface.toTile
    sides(tile).zipWithIndex.foreach { case (side, number) =>
      val sender = side match {
        case Side.Own =>
          interface.fromRouter <> router.out(number)
          interface.toRouter
        case _ =>
          val neighbour = params.tile(x + side.dx, y + side.dy)
          routers(neighbour).out(sides(neighbour).indexOf(side.opposite))
      }
      router.in(number) <> Link.behind(sender, params.stages)
    }
  }

  idle := routers.map(_.idle).reduce(_ && _) && interfaces.map(_.idle).reduce(_ && _)
  waiting := VecInit(routers.map(router => PopCount(router.waiting)))
  refused := VecInit(interfaces.map(_.refused))
}
