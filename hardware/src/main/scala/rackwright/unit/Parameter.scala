package rackwright.unit

/** A parameter that the user of a unit may set when elaborating.
  *
  * @param name
  *   lower case with hyphens, as on the command line.
  * @param default
  *   the default value.
  * @param range
  *   the values allowed, in words that a user reads in the list of units and in errors.
  * @param description
  *   its effect, with its unit.
  */
sealed abstract class Parameter(val name: String, val default: String, val range: String, val description: String) {

  /** The value of `text` as it appears in the manifest, or None if it is not allowed. */
  def parse(text: String): Option[ujson.Value]

  /** The value of `text`, or an error that names parameter, value and range. */
  def check(text: String): ujson.Value = parse(text).getOrElse(throw UsageError(s"$name: $text is not allowed; $range"))
}

/** A whole number. */
class IntegerParameter(name: String, default: Int, allowed: Seq[Int], range: String, description: String)
    extends Parameter(name, default.toString, range, description) {
  require(allowed.contains(default), s"$name: the default $default is not allowed; $range")

  def parse(text: String): Option[ujson.Value] = text.toIntOption.filter(allowed.contains).map(ujson.Num(_))
}

/** One of a few words. */
class WordParameter(name: String, default: String, words: Seq[String], description: String)
    extends Parameter(name, default, words.mkString("one of ", ", ", ""), description) {
  require(words.contains(default), s"$name: the default $default is not allowed")

  def parse(text: String): Option[ujson.Value] = Some(text).filter(words.contains).map(ujson.Str(_))
}

/** Makes parameters. */
object Parameter {

  /** A number from `allowed`, all of which are listed in errors. */
  def choice(name: String, default: Int, allowed: Seq[Int], description: String): Parameter =
    new IntegerParameter(name, default, allowed, allowed.mkString("one of ", ", ", ""), description)

  /** A number of `range`. */
  def integer(name: String, default: Int, range: Range, description: String): Parameter =
    new IntegerParameter(name, default, range, s"from ${range.min} to ${range.max}", description)

  /** A power of two. */
  def powerOfTwo(name: String, default: Int, least: Int, most: Int, description: String): Parameter = {
    val allowed = Iterator.iterate(least)(_ * 2).takeWhile(_ <= most).toSeq
    new IntegerParameter(name, default, allowed, s"a power of two from $least to $most", description)
  }

  /** One of `words`. */
  def word(name: String, default: String, words: Seq[String], description: String): Parameter =
    new WordParameter(name, default, words, description)
}

/** An error of the user; the message is one line that states the correction. */
case class UsageError(message: String) extends Exception(message)

/** Checked values of a unit's parameters. */
class ParameterValues private (values: Seq[(String, ujson.Value)]) {

  /** The value of an integer parameter. */
  def int(name: String): Int = value(name).num.toInt

  /** The value of a word. */
  def word(name: String): String = value(name).str

  /** All of them, in the order of their declaration, as the manifest shows them. */
  def json: ujson.Value = ujson.Obj.from(values)

  private def value(name: String): ujson.Value =
    values.collectFirst { case (`name`, found) => found }.getOrElse(throw new NoSuchElementException(
      s"parameter $name"
    ))
}

/** Checks the user's settings. */
object ParameterValues {

  /** The values of `parameters`, where `chosen` overrides defaults; a usage error for names or values that are not
    * allowed.
    */
  def apply(parameters: Seq[Parameter], chosen: Map[String, String]): ParameterValues = {
    val names = parameters.map(_.name)
    for (unknown <- chosen.keys.toSeq.sorted if !names.contains(unknown))
      throw UsageError(s"$unknown is not a parameter of this unit; it has ${names.mkString(", ")}")
    new ParameterValues(parameters.map(p => p.name -> p.check(chosen.getOrElse(p.name, p.default))))
  }
}
