package rackwright.rocc

/** Numbers of the commands that every streaming unit understands.
  *
  * 0 to 3 are those of the public compression units (Karandikar 2024, chapter 7, and its published RTL); 4 to 15 are
  * left to the settings of a unit, 16 and above are ours.
  */
object Functs {
  val fence: Int = 0
  val source: Int = 1
  val destinationAndStart: Int = 2
  val checkCompletion: Int = 3
  val settings: Range = 4 to 15
  val limit: Int = 16
  val status: Int = 17
  val outputBytes: Int = 18
  val inputOffset: Int = 19
  val version: Int = 20
  val extend: Int = 21
  val written: Int = 22

  /** What `version` answers. */
  val currentVersion: Int = 1
}
