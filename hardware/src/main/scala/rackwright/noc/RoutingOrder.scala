package rackwright.noc

import chisel3._

/** Dimension order: a packet travels along one dimension until it has arrived in it, then along the other. No chain of
  * links that wait for each other closes to a circle, whatever packets there are.
  */
sealed abstract class RoutingOrder(val word: String, rowsFirst: Boolean) {

  /** The sides by which what arrived from `side` may leave. What is on its second dimension does not turn back to the
    * first, and nothing goes back to where it came from, but for what a tile sends to itself.
    */
  def turns(side: Side): Seq[Side] = side match {
    case Side.Own => Side.all
    case _ if side.isHorizontal == rowsFirst => Side.all.filter(_ != side)
    case _ => Seq(Side.Own, side.opposite)
  }

  /** The side, one-hot, by which a packet leaves the router at `here` on its way to `there`. */
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
