package rackwright.pagefault

import chisel3._
import chisel3.util._

/** The format of entries of page tables: valid ones (privileged manual 20211203, section 4.4.1), and those of remote
  * pages, which are not valid, so that their bits belong to software. README.md has both.
  */
object Entry {
  val pageNumberBits: Int = 28
  val versionBits: Int = 16

  def valid(entry: UInt): Bool = entry(0)
  def remote(entry: UInt): Bool = !entry(0) && entry(9, 8) === 1.U
  def executable(entry: UInt): Bool = entry(3)
  def version(entry: UInt): UInt = entry(25, 10)
  def page(entry: UInt): UInt = entry(53, 26)
  def blade(entry: UInt): UInt = entry(55, 54)

  /** The valid entry of a remote page that has arrived in a frame: its permissions, accessed, not dirty. */
  def installed(entry: UInt, frame: UInt): UInt =
    Cat(0.U(10.W), frame.pad(44), 0.U(3.W), 1.U(1.W), 0.U(1.W), entry(4, 1), 1.U(1.W))
}

/** The unit's response to a walk: served, or the reason why not. */
object Cause {
  val width: Int = 3
  val served: UInt = 0.U(width.W)
  val noFrame: UInt = 1.U(width.W)
  val busy: UInt = 2.U(width.W)
  val notRemote: UInt = 3.U(width.W)
  val executable: UInt = 4.U(width.W)
  val timeOut: UInt = 5.U(width.W)
  val blade: UInt = 6.U(width.W)
  val accessFault: UInt = 7.U(width.W)
}
