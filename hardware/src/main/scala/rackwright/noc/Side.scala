package rackwright.noc

/** A side of a router: its own tile, or a neighbour. `index` is its bit where sides are one-hot.
  *
  * @param dx
  *   the neighbour's distance to the east.
  * @param dy
  *   the neighbour's distance to the south: rows are numbered from the top.
  */
sealed abstract class Side(val index: Int, val letter: Char, val dx: Int, val dy: Int) {

  /** The neighbour's side of the same link. */
  def opposite: Side = Side.all.find(side => side.dx == -dx && side.dy == -dy).get

  /** Whether the link is in a row. */
  def isHorizontal: Boolean = dx != 0
}

/** The five sides. */
object Side {
  case object Own extends Side(0, 'O', 0, 0)
  case object West extends Side(1, 'W', -1, 0)
  case object East extends Side(2, 'E', 1, 0)
  case object North extends Side(3, 'N', 0, -1)
  case object South extends Side(4, 'S', 0, 1)

  /** In the order of their bits. */
  val all: Seq[Side] = Seq(Own, West, East, North, South)

  /** Width of a one-hot side. */
  val bits: Int = all.size
}
