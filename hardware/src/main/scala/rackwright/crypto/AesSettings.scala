package rackwright.crypto

import chisel3._

import rackwright.operation.Setting

/** The settings for software; see README.md. */
object AesSettings {
  val mode: Setting = Setting("mode", 4, 3, 0, "0 ECB, 1 CBC, 2 CTR, 3 GCM")
  val decrypt: Setting = Setting("decrypt", 5, 2, 0, "0 encrypts, 1 decrypts")
  val keyBytes: Setting = Setting("key_bytes", 6, 6, 16, "bytes of the key: 16, 24 or 32")
  val key: Seq[Setting] =
    (0 until 4).map(i => Setting(s"key$i", 7 + i, 64, 0, s"bytes ${8 * i} to ${8 * i + 7} of the key"))
  val start: Seq[Setting] = (0 until 2).map { i =>
    Setting(s"iv$i", 11 + i, 64, 0, s"bytes ${8 * i} to ${8 * i + 7} of the initial value")
  }
  val extraBytes: Setting =
    Setting("aad_bytes", 13, 32, 0, "bytes at the beginning of the input that GCM authenticates and does not encrypt")
  val all: Seq[Setting] = Seq(mode, decrypt, keyBytes) ++ key ++ start ++ Seq(extraBytes)
}

/** Modes by number. */
object CipherMode extends ChiselEnum {
  val ecb, cbc, ctr, gcm = Value
}

/** The processing of the blocks of an operation. */
class CipherRequest extends Bundle {
  val mode = CipherMode()
  val decrypt = Bool()
  val slot = UInt(1.W)

  /** Initial value; the first byte in the low bits. */
  val start = UInt(128.W)
  val extraBytes = UInt(AesOpening.lengthBits.W)
  val textBytes = UInt(AesOpening.lengthBits.W)

  def is(wanted: CipherMode.Type): Bool = mode === wanted

  /** It has a tag to compare with. */
  def authenticates: Bool = is(CipherMode.gcm) && decrypt
}
