package rackwright.protobuf.table

/** The layout of the library's map fields (map_field.h and map.h of 3.21). */
object MapField {

  /** Offset of the pointer to the map as a repeated field of entries, or null. */
  val repeated: Int = 16

  /** Offset of the state, an int: which of the two representations is valid. */
  val state: Int = 64

  /** State: only the repeated field is valid. */
  val stateRepeated: Int = 1

  /** Largest state: both representations are valid. */
  val stateBoth: Int = 2

  /** Offsets in the hash table: number of elements, number of buckets (a power of two), first bucket in use, pointer to
    * the buckets.
    */
  val elements: Int = 72
  val buckets: Int = 80
  val first: Int = 96
  val table: Int = 104

  /** Offset of the key in an entry object. */
  val entryKey: Int = 16
}
