package rackwright.nic.virtio

import rackwright.port.{Register, RegisterMap}

/** The positions of the virtio front end's registers in the unit's page, from `registers.json`, 64 bits each. The
  * bridge to PCI translates accesses to the structures of virtio 1.2, section 4.1.4, to these.
  */
object VirtioMap {

  /** All of them. */
  val map: RegisterMap = RegisterMap.read("nic/virtio")

  val deviceFeatureSelect: Int = at("device_feature_select")
  val deviceFeature: Int = at("device_feature")
  val driverFeatureSelect: Int = at("driver_feature_select")
  val driverFeature: Int = at("driver_feature")
  val queues: Int = at("queues")
  val status: Int = at("status")
  val queueSelect: Int = at("queue_select")
  val queueSize: Int = at("queue_size")
  val queueEnable: Int = at("queue_enable")
  val queueNotifyOffset: Int = at("queue_notify_offset")

  /** Low and high halves of the places of descriptors, available ring and used ring of the selected queue. */
  val queueAddresses: Seq[Int] = map("queue_addresses").offsets
  val interruptStatus: Int = at("interrupt_status")
  val notification: Int = at("notification")

  /** Two words that are specific to network devices (virtio 1.2, section 5.1.4). */
  val deviceConfiguration: Seq[Int] = map("device_configuration").offsets

  /** These are not seen through PCI. */
  val errors: Int = at("errors")
  val mtu: Int = at("mtu")
  val windowFirst: Int = at("window_first")
  val windowLast: Int = at("window_last")
  val offer: Int = at("offer")

  /** One for each queue. */
  val moderation: Seq[Int] = moderationRegister.offsets

  /** The same with its fields. */
  def moderationRegister: Register = map("virtio_moderation")

  private def at(name: String): Int = map(name).offset

  /** Bits of features (virtio 1.2, sections 5.1.3 and 6). */
  val featureChecksum: Int = 0
  val featureGuestChecksum: Int = 1
  val featureMtu: Int = 3
  val featureMac: Int = 5
  val featureMergeable: Int = 15
  val featureEventIndex: Int = 29
  val featureVersion1: Int = 32

  /** Bits of the device status (virtio 1.2, section 2.1). */
  val statusDriverOk: Int = 2
  val statusFeaturesOk: Int = 3
  val statusNeedsReset: Int = 6
  val statusBits: Int = 8
}
