package rackwright.noc

import chisel3._

/** Dimension order: a packet travels along one dimension until it has arrived in it, then along the other. There are no
  * cycles of links that wait for each other, for any packets.
  */
sealed abstract class RoutingOrder(val word: String, rowsFirst: Boolean) {

  /** The sides through which packets from `side` may leave. Packets in their second dimension do not turn back to the
    * first, and no packet returns to the side of its arrival, except for those that a tile sends to itself.
    */
  def turns(side: Side): Seq[Side] = side match {
    case Side.Own => Side.all
    case _ if side.isHorizontal == rowsFirst => Side.all.filter(_ != side)
    case _ => Seq(Side.Own, side.opposite)
  }

  /** The side, one-hot, through which a packet leaves the router at `here` on its path to `there`. */
  def leave(here: Place, there: Place): UInt = {
    val (inRow, inColumn) = (here.x === there.x, here.y === there.y)
    val (west, east) = (there.x < here.x, there.x > here.x)
    val (north, south) = (there.y < here.y, there.y > here.y)
    val own = inRow && inColumn
    val sides =
      if (rowsFirst) Seq(own, west, east, inRow && north, inRow && south)
      else Seq(own, inColumn && west, inColumn && east, north, south)
    VecInit(sides).asUInt
  }
}

/** The two orders. */
object RoutingOrder {

  /** Along the row first. */
  case object RowsFirst extends RoutingOrder("xy", true)

  /** Along the column first. */
  case object ColumnsFirst extends RoutingOrder("yx", false)

  /** Both. */
  val all: Seq[RoutingOrder] = Seq(RowsFirst, ColumnsFirst)
}
