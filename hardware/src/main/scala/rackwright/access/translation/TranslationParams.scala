package rackwright.access.translation

/** The parameters of the translation between a unit and memory.
  *
  * @param entries
  *   cached translations of each memory port: 2 to 32.
  */
case class TranslationParams(entries: Int = 8) {
  require(entries >= 2 && entries <= 32, s"a memory port keeps 2 to 32 translations, not $entries")
}
