package rackwright.store

import rackwright.operation.Setting

/** The settings of the unit; see README.md. */
object StoreSettings {
  val region: Setting = Setting("region", 4, 64, 0, "where the store is: a multiple of 64")
  val all: Seq[Setting] = Seq(region)
}
