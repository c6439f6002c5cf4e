package rackwright.store

import rackwright.operation.Setting

/** The settings of the unit; see README.md. */
object StoreSettings {
  val region: Setting = Setting("region", 4, 64, 0, "where the store is: a multiple of 64")
  val lead: Setting =
    Setting("lead", 5, 5, 8, "bytes in front of the text that return unchanged: a multiple of 8 from 0 to 24")

  def of(params: Params): Seq[Setting] = Seq(region) ++ Option.when(params.text)(lead)
}
