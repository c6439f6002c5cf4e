package rackwright.deflate

/** The container format around the blocks, encoded as in the setting. */
object Wrapper {

  /** None; header and Adler-32 of RFC 1950 (zlib); members with CRC-32 and length of RFC 1952 (gzip). */
  val raw: Int = 0
  val zlib: Int = 1
  val gzip: Int = 2
  val bits: Int = 2
  val meaning: String = "what stands around the data: 0 nothing, 1 zlib, 2 gzip"
}
