package rackwright.unit

/** Where a unit may be attached, as the manifest names it. Alone, on a bench, every unit can be. */
sealed abstract class Attach(val name: String)

object Attach {

  /** Beside a hart, or a card's window, which gives it commands or accesses its registers. */
  case object Hart extends Attach("hart")

  /** On a link between harts and network, where it is asked by walks that meet a page that is elsewhere. */
  case object Walk extends Attach("walk")

  /** On a link of a network, as the NIC of a server. */
  case object Link extends Attach("link")

  /** In a switch of a network, which asks it where frames go. */
  case object Switch extends Attach("switch")

  /** On a link of PCI Express, as a function that sends and receives packets itself. */
  case object Card extends Attach("card")

  private val all = Seq(Hart, Walk, Link, Switch, Card)

  /** The one of that name. */
  def named(name: String): Attach =
    all.find(_.name == name).getOrElse(throw UsageError(
      s"a unit is attached to ${all.map(_.name).mkString(", ")}, not $name"
    ))
}
