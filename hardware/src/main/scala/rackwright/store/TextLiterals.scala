package rackwright.store

import chisel3._
import chisel3.util._

/** What a store says in the text protocol of memcached (its file doc/protocol.txt), and where in a table of words. */
object TextLiterals {
  val names: Seq[(String, String)] = Seq(
    "stored" -> "STORED\r\n",
    "notStored" -> "NOT_STORED\r\n",
    "exists" -> "EXISTS\r\n",
    "notFound" -> "NOT_FOUND\r\n",
    "deleted" -> "DELETED\r\n",
    "value" -> "VALUE ",
    "space" -> " ",
    "line" -> "\r\n",
    "end" -> "END\r\n",
    "error" -> "ERROR\r\n",
    "version" -> "VERSION Rackwright\r\n",
    "badLine" -> "CLIENT_ERROR bad command line format\r\n",
    "badDelete" -> "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n",
    "badDelta" -> "CLIENT_ERROR invalid numeric delta argument\r\n",
    "badTime" -> "CLIENT_ERROR invalid exptime argument\r\n",
    "notNumber" -> "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
    "touched" -> "TOUCHED\r\n",
    "badChunk" -> "CLIENT_ERROR bad data chunk\r\n",
    "tooLarge" -> "SERVER_ERROR object too large for cache\r\n",
    "noMemory" -> "SERVER_ERROR out of memory storing object\r\n",
    "broken" -> "SERVER_ERROR the store is broken\r\n",
    "okay" -> "OK\r\n",
    "reset" -> "RESET\r\n",
    "statisticsEnd" -> "\r\nEND\r\n"
  ) ++ Statistics.names.zipWithIndex.map { case (name, i) =>
    // Each ends the line before; memcached has its version behind the time.
    val version = if (i == 1) "STAT version Rackwright\r\n" else ""
    name -> s"${if (i == 0) "" else "\r\n"}${version}STAT $name "
  }
  private val wordsOf = names.map { case (_, text) => text.grouped(8).toSeq }
  private val starts = wordsOf.scanLeft(0)(_ + _.size)
  private val all = wordsOf.flatMap(words => words.zipWithIndex.map { case (word, i) => (word, i == words.size - 1) })
  val bits: Int = log2Ceil(all.size)

  /** The number of its first word. */
  def apply(name: String): UInt = starts(names.indexWhere(_._1 == name)).U(bits.W)

  /** A word: its bytes, the first one in the lowest bits; how many there are; whether the text ends with it. */
  class Word extends Bundle {
    val data = UInt(64.W)
    val count = UInt(4.W)
    val last = Bool()
  }

  /** The table. */
  def table: Vec[Word] = VecInit(all.map { case (text, isLast) =>
    val word = Wire(new Word)
    word.data := text.reverse.foldLeft(BigInt(0))(_ << 8 | _.toInt).U
    word.count := text.length.U
    word.last := isLast.B
    word
  })
}
