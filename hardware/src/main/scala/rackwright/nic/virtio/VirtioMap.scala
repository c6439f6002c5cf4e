package rackwright.nic.virtio

/** Where the registers of the virtio front end lie in the unit's page, 64 bits each; README.md says what they mean. The
  * bridge on the way to PCI puts accesses to the structures of virtio 1.2, section 4.1.4, here.
  */
object VirtioMap {
  val base: Int = 0x800

  val deviceFeatureSelect: Int = 0x800
  val deviceFeature: Int = 0x808
  val driverFeatureSelect: Int = 0x810
  val driverFeature: Int = 0x818
  val queues: Int = 0x820
  val status: Int = 0x828
  val generation: Int = 0x830
  val queueSelect: Int = 0x838
  val queueSize: Int = 0x840
  val queueEnable: Int = 0x848
  val queueNotifyOffset: Int = 0x850

  /** Low and high halves of the places of descriptors, available ring and used ring of the selected queue. */
  val queueAddresses: Seq[Int] = Seq(0x858, 0x860, 0x868, 0x870, 0x878, 0x880)
  val interruptStatus: Int = 0x888
  val notification: Int = 0x890

  /** Two words of what only network devices have (virtio 1.2, section 5.1.4). */
  val deviceConfiguration: Seq[Int] = Seq(0x898, 0x8a0)

  /** These are not seen through PCI. */
  val errors: Int = 0x8a8
  val mtu: Int = 0x8b0
  val windowFirst: Int = 0x8b8
  val windowLast: Int = 0x8c0
  val offer: Int = 0x8c8

  /** One for each queue. */
  val moderation: Seq[Int] = Seq(0x8d0, 0x8d8)

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
