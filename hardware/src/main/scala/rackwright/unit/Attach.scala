package rackwright.unit

/** The places where a unit may be attached, as named in manifests. Alone, on a bench, every unit can be. */
sealed abstract class Attach(val name: String)

object Attach {

  /** Beside a hart or a card's window, which sends it commands or accesses its registers. */
  case object Hart extends Attach("hart")

  /** Beside a machine's harts, all of which send it commands. */
  case object Machine extends Attach("machine")

  /** On a link between harts and network, where page walks that find a remote page send it requests. */
  case object Walk extends Attach("walk")

  /** On a link of a network, as the NIC of a server. */
  case object Link extends Attach("link")

  /** In a switch of a network, which queries it for the destinations of frames. */
  case object Switch extends Attach("switch")

  /** On a link of PCI Express, as a function that sends and receives packets itself. */
  case object Card extends Attach("card")

  private val all = Seq(Hart, Machine, Walk, Link, Switch, Card)

  /** The place with that name. */
  def named(name: String): Attach =
    all.find(_.name == name).getOrElse(throw UsageError(
      s"a unit is attached to ${all.map(_.name).mkString(", ")}, not $name"
    ))
}
