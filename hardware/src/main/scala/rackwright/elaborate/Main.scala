package rackwright.elaborate

import scala.jdk.CollectionConverters._
import scala.util.Try

import rackwright.unit.UsageError

/** Elaborates units: `Arguments.usage` is the command line. Exit status 2 and one line on a mistake of the user. */
object Main {
  def main(arguments: Array[String]): Unit =
    try run(Arguments.parse(arguments.toSeq))
    catch {
      case UsageError(message) => refuse(message)
      // What `require` says within a unit's parameters: each value is allowed, but not together.
      case error: IllegalArgumentException => refuse(error.getMessage.stripPrefix("requirement failed: "))
    }

  private def refuse(message: String): Unit = {
    Console.err.println(message)
    sys.exit(2)
  }

  private def run(arguments: Arguments): Unit = arguments match {
    case ListUnits => println(ujson.write(UnitList.json(Units.all), indent = 2))
    case request: Elaborate => Elaborator.write(request)
    case Several(requests) => writeAll(requests)
  }

  /** On all processors; what one of them is refused for is said when the others are done. */
  private def writeAll(requests: Seq[Elaborate]): Unit = {
    val results = requests.asJava.parallelStream.map[Try[Unit]](request => Try(Elaborator.write(request)))
    results.toList.asScala.foreach(_.get)
  }
}
