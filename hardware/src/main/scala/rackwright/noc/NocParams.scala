package rackwright.noc

import chisel3.util.log2Ceil

/** The parameters of a mesh.
  *
  * @param width
  *   tiles in a row.
  * @param height
  *   rows.
  * @param order
  *   the order of dimensions in which packets travel.
  * @param networks
  *   independent networks, so that classes of messages do not wait for each other.
  * @param flitBytes
  *   bytes that a link carries in a cycle.
  * @param depth
  *   flits in each queue of a router.
  * @param stages
  *   additional registers in front of each input of a router: for long wires, or a deeper router pipeline.
  */
case class NocParams(
    width: Int,
    height: Int,
    order: RoutingOrder,
    networks: Int,
    flitBytes: Int,
    depth: Int,
    stages: Int
) {
  require(width * height > 1, s"width and height: a mesh of $width x $height has no link")

  /** Whether a tile has a neighbour on that side; the tile itself always has. */
  def has(x: Int, y: Int, side: Side): Boolean = {
    val (nextX, nextY) = (x + side.dx, y + side.dy)
    nextX >= 0 && nextX < width && nextY >= 0 && nextY < height
  }

  /** The number of the tile at a place: row by row from the top left. */
  def tile(x: Int, y: Int): Int = y * width + x
}

/** Widths that do not depend on the mesh. */
object NocParams {

  /** Fewest flits in a queue: with two, one that enters a `HeadQueue` while its head leaves could find no place. */
  val leastDepth: Int = 3

  /** Most tiles in a row, and most rows. */
  val most: Int = 8

  /** Width of a coordinate. */
  val placeBits: Int = log2Ceil(most)
}
