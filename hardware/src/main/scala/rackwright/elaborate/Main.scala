package rackwright.elaborate

import java.io.PrintStream

import scala.io.Source
import scala.jdk.CollectionConverters._
import scala.util.Try
import scala.util.control.NonFatal

import rackwright.unit.UsageError

/** Elaborates units: `Arguments.usage` is the command line. Exit status 2 and one line on a mistake of the user. */
object Main {
  def main(arguments: Array[String]): Unit =
    try run(Arguments.parse(arguments.toSeq))
    catch {
      case Refusal(reason) =>
        Console.err.println(reason)
        sys.exit(2)
    }

  /** Errors that the user can correct. */
  private object Refusal {
    def unapply(error: Throwable): Option[String] = error match {
      case UsageError(message) => Some(message)
      // The message of a `require` on a unit's parameters: each value is allowed, but not their combination.
      case error: IllegalArgumentException => Some(error.getMessage.stripPrefix("requirement failed: "))
      case _ => None
    }
  }

  private def run(arguments: Arguments): Unit = arguments match {
    case ListUnits => listUnits()
    case request: Elaborate => Elaborator.write(request)
    case Requests => answerRequests()
  }

  /** The stream for responses; from here on, messages of Chisel, which are not responses, go to standard error. */
  private def answersAlone(): PrintStream = {
    val answers = System.out
    System.setOut(System.err)
    answers
  }

  private def listUnits(): Unit = {
    val answers = answersAlone()
    answers.println(ujson.write(UnitList.json(Units.all), indent = 2))
  }

  /** Answers each line of the standard input by one: null when all is written, else why not. */
  private def answerRequests(): Unit = {
    val answers = answersAlone()
    Source.fromInputStream(System.in, "UTF-8").getLines().foreach { line =>
      answers.println(ujson.write(answer(line), escapeUnicode = true))
      answers.flush()
    }
  }

  private def answer(line: String): ujson.Value =
    try {
      writeAll(Arguments.requests(line))
      ujson.Null
    } catch {
      case Refusal(reason) => reason
      case NonFatal(error) =>
        error.printStackTrace()
        error.toString.linesIterator.next()
    }

  /** On all processors; refusals are reported when all requests are done. */
  private def writeAll(requests: Seq[Elaborate]): Unit = {
    val results = requests.asJava.parallelStream.map[Try[Unit]](request => Try(Elaborator.write(request)))
    results.toList.asScala.foreach(_.get)
  }
}
