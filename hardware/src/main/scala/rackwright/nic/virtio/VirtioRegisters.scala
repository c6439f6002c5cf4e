package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.nic.port.FarAccess

/** The features agreed on between driver and device, and the settings of the server. */
class Agreement extends Bundle {
  val eventIndex = Bool()

  /** Headers request checksums; headers report correct checksums; a frame may fill several chains. */
  val sendChecksums = Bool()
  val receiveChecksums = Bool()
  val mergeable = Bool()
  val moderation = Vec(Virtio.queues, new NotificationSetting)
  val rings = Vec(Virtio.queues, new Ring)
  val window = new Window

  /** The device may work: the driver is ready and has broken no rule. */
  val works = Bool()
}

/** The registers of the front end (virtio 1.2, sections 2.1, 2.2, 4.1.4.3 and 5.1.4), and their effects. */
class VirtioRegisters extends Module {
  import VirtioMap._
  import VirtioRegisters._

  val access = IO(Flipped(new FarAccess))
  val macAddress = IO(Input(UInt(48.W)))
  val agreement = IO(Output(new Agreement))

  /** Queues that the driver notifies in this cycle. */
  val notified = IO(Output(Vec(Virtio.queues, Bool())))

  /** The driver has broken a rule, or a buffer of its is not in memory. */
  val fault = IO(Input(UInt(Fault.width.W)))

  /** Buffers were returned of which the driver has requested a notification. */
  val used = IO(Input(Bool()))

  /** No operation of the driver is in progress. */
  val stopped = IO(Input(Bool()))

  /** All other state is to be reset. */
  val clear = IO(Output(Bool()))
  val interrupt = IO(Output(Bool()))

  /** A rule has just been broken. */
  val broken = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val zero = 0.U.asTypeOf(new Driver)
  private val driver = RegInit(zero)
  private val rings = RegInit(initialRings)
  private val resetting = RegInit(false.B)
  private val errorCount = RegInit(0.U(32.W))
  private val lastFault = RegInit(Fault.none)
  private val mtuSet = RegInit(0.U(16.W))
  private val window = RegInit(everything)
  private val offer = RegInit(choices)
  private val moderation = RegInit(0.U.asTypeOf(Vec(Virtio.queues, new NotificationSetting)))

  private val data = access.data
  private def writes(register: Int): Bool = access.valid && access.write && access.address === register.U
  private def reads(register: Int): Bool = access.valid && !access.write && access.address === register.U

  private val offered = offer | always | Mux(mtuSet =/= 0.U, bits(featureMtu), 0.U)
  private def half(word: UInt, select: UInt): UInt =
    Mux(select === 0.U, word(31, 0), Mux(select === 1.U, word(63, 32), 0.U))
  private val accepted = driver.accepted
  private val agreed = (accepted & ~offered) === 0.U && accepted(featureVersion1)

  when(writes(deviceFeatureSelect)) { driver.deviceSelect := data(31, 0) }
  when(writes(driverFeatureSelect)) { driver.driverSelect := data(31, 0) }
  when(writes(driverFeature) && !driver.status(statusFeaturesOk)) {
    when(driver.driverSelect === 0.U) { driver.accepted := Cat(accepted(63, 32), data(31, 0)) }
    when(driver.driverSelect === 1.U) { driver.accepted := Cat(data(31, 0), accepted(31, 0)) }
  }
  when(writes(queueSelect)) { driver.selected := data(15, 0) }
  when(writes(mtu)) { mtuSet := data(15, 0) }
  when(writes(windowFirst)) { window.first := data }
  when(writes(windowLast)) { window.last := data }
  when(writes(VirtioMap.offer)) { offer := data & choices }
  for ((setting, register) <- moderation.zip(VirtioMap.moderation))
    when(writes(register)) { setting := NotificationSetting.of(data) }

  // The set-up of a ring cannot be changed while it is in use.
  private val badRing = WireDefault(false.B)
  private val exists = driver.selected < Virtio.queues.U
  private val selected = driver.selected(0)
  private val ring = rings(selected)
  when(exists && !ring.enabled) {
    when(writes(queueSize)) { rings(selected).size := Mux(data(15, 0) > Virtio.ringEntries.U, 0.U, data) }
    for ((address, index) <- queueAddresses.zipWithIndex; high = index % 2 == 1) when(writes(address)) {
      val field = fields(rings(selected))(index / 2)
      field := (if (high) Cat(data(31, 0), field(31, 0)) else Cat(field(63, 32), data(31, 0)))
    }
    when(writes(queueEnable) && data(15, 0) === 1.U) {
      rings(selected).enabled := true.B
      badRing := !legal(ring)
    }
  }

  // The device status.
  private val needsReset = driver.status(statusNeedsReset)
  private val wanted = data(statusBits - 1, 0)
  private val newlyAgreed = wanted(statusFeaturesOk) && !driver.status(statusFeaturesOk)
  private val features = wanted(statusFeaturesOk) && (!newlyAgreed || agreed)
  private val kept = Wire(Vec(statusBits, Bool()))
  kept := wanted.asBools
  kept(statusFeaturesOk) := features
  // A driver must not continue without an agreement, and only a reset recovers from errors.
  kept(statusDriverOk) := wanted(statusDriverOk) && features
  kept(statusNeedsReset) := needsReset
  when(writes(status)) {
    when(wanted === 0.U) {
      resetting := true.B
    }.elsewhen(!resetting) {
      driver.status := kept.asUInt
    }
  }

  // Interrupts, which end with the read of their status.
  private val breaks = (fault =/= Fault.none || badRing) && !needsReset
  broken := breaks
  when(reads(interruptStatus)) { driver.interrupts := 0.U }
  private val stay = Mux(reads(interruptStatus), 0.U, driver.interrupts)
  when(used || breaks) { driver.interrupts := stay | Cat(breaks, used) }
  when(breaks) {
    errorCount := errorCount + 1.U
    lastFault := Mux(badRing, Fault.ring, fault)
    driver.status := driver.status | (1 << statusNeedsReset).U
  }

  // After a reset, no data of the driver are accessed any more: the status is 0 when nothing is in progress.
  clear := resetting && stopped
  when(clear) {
    resetting := false.B
    driver := zero
    rings := initialRings
  }

  agreement.eventIndex := accepted(featureEventIndex)
  agreement.sendChecksums := accepted(featureChecksum)
  agreement.receiveChecksums := accepted(featureGuestChecksum)
  agreement.mergeable := accepted(featureMergeable)
  agreement.moderation := moderation
  agreement.rings := rings
  agreement.window := window
  agreement.works := driver.status(statusDriverOk) && !needsReset && !resetting
  for (queue <- 0 until Virtio.queues)
    notified(queue) := writes(notification) && data(15, 0) === queue.U && agreement.works
  interrupt := driver.interrupts =/= 0.U
  idle := !clear

  private val mac = VecInit(Seq.tabulate(6)(i => macAddress(47 - 8 * i, 40 - 8 * i))).asUInt
  private val shown: Seq[(Int, Data)] = Seq[(Int, Data)](
    deviceFeatureSelect -> driver.deviceSelect,
    deviceFeature -> half(offered, driver.deviceSelect),
    driverFeatureSelect -> driver.driverSelect,
    driverFeature -> half(accepted, driver.driverSelect),
    queues -> Virtio.queues.U,
    // Until a reset is complete, the driver waits for the status to be 0.
    status -> driver.status,
    queueSelect -> driver.selected,
    queueSize -> Mux(exists, ring.size, 0.U),
    queueEnable -> (exists && ring.enabled),
    queueNotifyOffset -> driver.selected,
    interruptStatus -> driver.interrupts,
    deviceConfiguration(0) -> mac,
    // No status field; one pair of queues; the MTU.
    deviceConfiguration(1) -> Cat(mtuSet, 1.U(16.W)),
    errors -> map("errors").word("last" -> lastFault, "count" -> errorCount),
    mtu -> mtuSet,
    windowFirst -> window.first,
    windowLast -> window.last,
    VirtioMap.offer -> offer
  ) ++ moderation.zip(VirtioMap.moderation).map { case (setting, register) =>
    register -> setting.word
  } ++ queueAddresses.zipWithIndex.map { case (address, index) =>
    val field = fields(ring)(index / 2)
    address -> Mux(exists, if (index % 2 == 1) field(63, 32) else field(31, 0), 0.U)
  }
  access.value := MuxLookup(access.address, 0.U(64.W))(shown.map { case (register, value) =>
    register.U -> value.asUInt
  })
}

/** Parts of [[VirtioRegisters]]. */
object VirtioRegisters {

  /** State that a reset by the driver clears, in addition to the rings. */
  private class Driver extends Bundle {
    val status = UInt(VirtioMap.statusBits.W)
    val interrupts = UInt(2.W)
    val deviceSelect = UInt(32.W)
    val driverSelect = UInt(32.W)
    val accepted = UInt(64.W)
    val selected = UInt(16.W)
  }

  private def bits(features: Int*): UInt = features.map(BigInt(1) << _).sum.U(64.W)

  /** Features that are offered unless the server disables them. */
  private def choices: UInt = bits(
    VirtioMap.featureChecksum,
    VirtioMap.featureGuestChecksum,
    VirtioMap.featureMergeable,
    VirtioMap.featureEventIndex
  )
  private def always: UInt = bits(VirtioMap.featureMac, VirtioMap.featureVersion1)
  private def fields(ring: Ring): Seq[UInt] = Seq(ring.descriptors, ring.available, ring.used)

  /** No ring is in use, and each may have all places. */
  private def initialRings: Vec[Ring] = {
    val rings = Wire(Vec(Virtio.queues, new Ring))
    rings := 0.U.asTypeOf(rings)
    rings.foreach(_.size := Virtio.ringEntries.U)
    rings
  }

  private def everything: Window = {
    val window = Wire(new Window)
    window.first := 0.U
    window.last := ~0.U(window.last.getWidth.W)
    window
  }

  /** A power of two of places, and alignments of virtio 1.2, section 2.7. */
  private def legal(ring: Ring): Bool = {
    val power = ring.size =/= 0.U && (ring.size & (ring.size - 1.U)) === 0.U
    val aligned = ring.descriptors(3, 0) === 0.U && !ring.available(0) && ring.used(1, 0) === 0.U
    power && aligned
  }
}
