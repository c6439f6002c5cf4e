package rackwright.protobuf.table

/** The library's object of a map field: where things lie in it (map_field.h and map.h of 3.21). */
object MapField {

  /** Pointer to the map as a repeated field of entries, or null. */
  val repeated: Int = 16

  /** Which of the two forms is right: an int. */
  val state: Int = 64

  /** The repeated field is right, the hash table is not. */
  val stateRepeated: Int = 1

  /** Largest of the states: both are right. */
  val stateBoth: Int = 2

  /** Of the hash table: elements, buckets (a power of two), the first bucket in use, the buckets. */
  val elements: Int = 72
  val buckets: Int = 80
  val first: Int = 96
  val table: Int = 104

  /** Where the key lies in an entry object. */
  val entryKey: Int = 16
}
