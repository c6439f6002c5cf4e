package rackwright.protobuf.table

import rackwright.port.RecordField

/** What the completion records and responses of both units have in common. */
object ProtobufRecord {

  /** The word that is written last. */
  val ended: RecordField = RecordField("ended", 0, 64, "1 + status; 0 before")

  /** What STATUS returns. */
  val failure: String = "0, or 1 + status of the first that failed since this or WAIT was asked"
}
