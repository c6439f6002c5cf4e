package rackwright.port

import chisel3._
import chisel3.util._

/** The state of a hart, at the issue of a command, that determines the translation of addresses. */
class TranslationContext extends Bundle {

  /** The register `satp`. */
  val satp = UInt(64.W)

  /** The mode in which the hart does loads and stores: 0 user, 1 supervisor, 3 machine. */
  val privilege = UInt(2.W)

  /** `mstatus.SUM` and `mstatus.MXR`. */
  val sum = Bool()
  val mxr = Bool()

  /** The field MODE of `satp`. */
  def mode: UInt = satp(63, 60)

  /** The page of the first table. */
  def root: UInt = satp(Paging.physicalPageBits - 1, 0)

  /** Whether addresses are physical. */
  def flat: Bool = privilege === 3.U || mode === Paging.bare.U

  /** Whether `address` is a valid virtual address of the format. */
  def canonical(address: UInt): Bool = {
    def extended(bits: Int): Bool = {
      val upper = address(63, bits - 1)
      upper.andR || !upper.orR
    }
    MuxLookup(mode, false.B)(Seq(Paging.sv39.U -> extended(39), Paging.sv48.U -> extended(48)))
  }
}
