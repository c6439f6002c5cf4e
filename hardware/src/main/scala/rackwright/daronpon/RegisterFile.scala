package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.port.{MmioPort, MmioResponse}

/** Reads and writes of registers: one per cycle, answered in the next. */
class RegisterFile(params: Params) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val settings = IO(Output(new Settings))
  val tables = IO(Output(new Tables(params)))

  /** Software has set everything. */
  val start = IO(Output(Bool()))
  val nextTimer = IO(Input(UInt(64.W)))

  /** What is counted in this cycle. */
  val amounts = IO(Input(Vec(Counters.names.size, UInt(Sizes.countBits.W))))
  val idle = IO(Output(Bool()))

  private val set = RegInit(0.U.asTypeOf(new Settings))
  private val serviceTable = RegInit(0.U.asTypeOf(tables.services))
  private val replicaTable = RegInit(0.U.asTypeOf(tables.replicas))
  private val peerTable = RegInit(0.U.asTypeOf(tables.peers))
  private val counts = RegInit(VecInit(Seq.fill(Counters.names.size)(0.U(64.W))))
  private val responses = Module(new Queue(new MmioResponse, 2))
  private val access = mmio.request
  private val data = access.bits.data
  private def writes(register: Int): Bool = access.fire && access.bits.write && access.bits.address === register.U

  access.ready := responses.io.enq.ready
  responses.io.enq.valid := access.valid
  mmio.response <> responses.io.deq
  idle := !responses.io.deq.valid
  settings := set
  tables.services := serviceTable
  tables.replicas := replicaTable
  tables.peers := peerTable
  start := writes(Registers.start)
  counts.zip(amounts).foreach { case (count, amount) => count := count + amount }

  when(writes(Registers.identity)) {
    set.own := data(15, 0)
    set.incarnation := data(47, 16)
  }
  when(writes(Registers.keyLow)) { set.key := Cat(set.key(127, 64), data) }
  when(writes(Registers.keyHigh)) { set.key := Cat(data, set.key(63, 0)) }
  when(writes(Registers.policy)) {
    set.gossipFloor := data(16, 0)
    set.averageShift := data(28, 24)
    set.maxRedirects := data(39, 32)
    set.gossip := data(40)
    set.piggyback := data(41)
    set.always := data(42)
    set.rackLocal := data(43)
    set.adaptive := data(44)
  }
  when(writes(Registers.loadDelta)) { set.loadDelta := data }
  when(writes(Registers.epoch)) { set.epoch := data }
  when(writes(Registers.truthInterval)) { set.truthInterval := data }
  when(writes(Registers.peerTimeout)) { set.peerTimeout := data }
  when(writes(Registers.probeInterval)) { set.probeInterval := data }
  serviceTable.zipWithIndex.foreach { case (entry, i) =>
    when(writes(Registers.services + 8 * i)) {
      entry.number := data(15, 0)
      entry.present := data(63)
    }
  }
  replicaTable.zipWithIndex.foreach { case (entry, i) =>
    when(writes(Registers.replicas + 16 * i)) {
      entry.place.mac := data(47, 0)
      entry.cores := data(58, 48)
    }
    when(writes(Registers.replicas + 16 * i + 8)) {
      entry.place.address := data(31, 0)
      entry.place.port := data(47, 32)
      entry.service := data(55, 48)
      entry.present := data(63)
    }
  }
  peerTable.zipWithIndex.foreach { case (entry, i) =>
    when(writes(Registers.peers + 16 * i)) {
      entry.place.mac := data(47, 0)
      entry.id := data(63, 48)
      entry.after := data(63, 48) > set.own
    }
    when(writes(Registers.peers + 16 * i + 8)) {
      entry.place.address := data(31, 0)
      entry.place.port := data(47, 32)
      entry.services := data(63, 48)
    }
  }
  responses.io.enq.bits.data := MuxLookup(access.bits.address, 0.U(64.W))(
    (Registers.nextTimer.U -> nextTimer) +: counts.zipWithIndex.map { case (count, i) =>
      (Registers.counters + 8 * i).U -> count
    }
  )
}
