package rackwright.elaborate

import scala.collection.mutable

/** Has Verilator compile the repeated modules of a large design once. By itself it puts each copy into the module
  * around it, and its code grows with the number of copies: 58 MB for a vector unit of 128 lanes.
  */
object Repeated {

  /** Characters of Verilog, with those of all copies, from which on a design is large. */
  private val large = 7000000L

  /** The part of them that the copies of a module have at least. */
  private val share = 1.0 / 32
  private val leastCopies = 4

  private val Header = """module (\w+)\(.*""".r
  private val Instance = """  (\w+) \w+ \(""".r

  /** Instructions for Verilator to append to the text of firtool; none for a design that is not large. */
  def directives(text: String): String = {
    val modules = repeated(text)
    if (modules.isEmpty) ""
    else {
      val lines = modules.map(name => s"no_inline -module \"$name\"")
      (Seq("`ifdef VERILATOR", "`verilator_config") ++ lines ++ Seq("`verilog", "`endif", "")).mkString("\n")
    }
  }

  /** The repeated modules of a large design that are in no other repeated one. */
  private def repeated(text: String): Seq[String] = {
    val modules = read(text)
    // A module precedes those that instantiate it.
    val sizes = mutable.Map.empty[String, Long].withDefaultValue(0L)
    for (module <- modules) sizes(module.name) = module.size + module.children.map(sizes).sum
    val copies = mutable.Map.empty[String, Long].withDefaultValue(0L)
    modules.lastOption.foreach(top => copies(top.name) = 1)
    for (module <- modules.reverseIterator; child <- module.children) copies(child) += copies(module.name)
    val least = modules.lastOption.fold(0L)(top => sizes(top.name))
    val inside = mutable.Set.empty[String]
    if (least < large) Seq.empty
    else
      modules.reverse.filter { module =>
        val isInside = inside(module.name)
        val chosen = !isInside && copies(module.name) >= leastCopies &&
          copies(module.name) * sizes(module.name) >= share * least
        if (isInside || chosen) inside ++= module.children
        chosen
      }.map(_.name)
  }

  private case class Module(name: String, size: Long, children: Seq[String])

  /** The modules of a text in its order, with the modules that each instantiates, once for each instance. */
  private def read(text: String): Seq[Module] = {
    val found = mutable.ArrayBuffer.empty[Module]
    for (line <- text.linesIterator) line match {
      case Header(name) => found += Module(name, line.length, Seq.empty)
      case Instance(child) if found.nonEmpty => update(found)(m => m.copy(children = m.children :+ child))
      case _ if found.nonEmpty => update(found)(m => m.copy(size = m.size + line.length))
      case _ =>
    }
    found.toSeq
  }

  private def update(found: mutable.ArrayBuffer[Module])(by: Module => Module): Unit =
    found(found.size - 1) = by(found.last)
}
