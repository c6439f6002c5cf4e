package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.port.{MmioPort, MmioResponse}

/** Serves reads and writes of registers: one per cycle, with the response in the next cycle. */
class RegisterFile(params: Params) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val settings = IO(Output(new Settings))
  val tables = IO(Output(new Tables(params)))

  /** Software has completed the configuration. */
  val start = IO(Output(Bool()))
  val nextTimer = IO(Input(UInt(64.W)))

  /** Counter increments of this cycle. */
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
  private val map = Registers.of(params)
  private def writesAt(offset: Int): Bool = access.fire && access.bits.write && access.bits.address === offset.U

  /** On a write to the named register, runs `set` with its fields by name. */
  private def onWrite(name: String)(set: (String => UInt) => Unit): Unit = onWrites(name)((_, field) => set(field))

  /** The same for an array of registers, with the index of the element. */
  private def onWrites(name: String)(set: (Int, String => UInt) => Unit): Unit = {
    val register = map(name)
    register.offsets.zipWithIndex.foreach { case (offset, i) =>
      when(writesAt(offset)) { set(i, register(_).of(data)) }
    }
  }

  access.ready := responses.io.enq.ready
  responses.io.enq.valid := access.valid
  mmio.response <> responses.io.deq
  idle := !responses.io.deq.valid
  settings := set
  tables.services := serviceTable
  tables.replicas := replicaTable
  tables.peers := peerTable
  start := writesAt(map("start").offset)
  counts.zip(amounts).foreach { case (count, amount) => count := count + amount }

  onWrite("identity") { field =>
    set.own := field("number")
    set.incarnation := field("incarnation")
  }
  private val key = map("key").offsets
  when(writesAt(key.head)) { set.key := Cat(set.key(127, 64), data) }
  when(writesAt(key.last)) { set.key := Cat(data, set.key(63, 0)) }
  onWrite("policy") { field =>
    set.gossipFloor := field("gossip_floor")
    set.averageShift := field("average_shift")
    set.maxRedirects := field("max_redirects")
    set.gossip := field("gossip")
    set.piggyback := field("piggyback")
    set.always := field("always")
    set.rackLocal := field("rack_local")
    set.adaptive := field("adaptive")
  }
  onWrite("load_delta") { field => set.loadDelta := field("value") }
  onWrite("epoch") { field => set.epoch := field("time") }
  onWrite("truth_interval") { field => set.truthInterval := field("time") }
  onWrite("peer_timeout") { field => set.peerTimeout := field("time") }
  onWrite("probe_interval") { field => set.probeInterval := field("time") }
  onWrites("services") { (i, field) =>
    serviceTable(i).number := field("number")
    serviceTable(i).present := field("present")
  }
  onWrites("replicas") { (i, field) =>
    replicaTable(i).place.mac := field("mac")
    replicaTable(i).cores := field("cores")
  }
  onWrites("replica_places") { (i, field) =>
    replicaTable(i).place.address := field("address")
    replicaTable(i).place.port := field("port")
    replicaTable(i).service := field("service")
    replicaTable(i).present := field("present")
  }
  onWrites("peers") { (i, field) =>
    peerTable(i).place.mac := field("mac")
    peerTable(i).id := field("number")
    peerTable(i).after := field("number") > set.own
  }
  onWrites("peer_places") { (i, field) =>
    peerTable(i).place.address := field("address")
    peerTable(i).place.port := field("port")
    peerTable(i).services := field("services")
  }
  private val shown = (map("next_timer") -> nextTimer) +: map.counters.zip(counts)
  responses.io.enq.bits.data := MuxLookup(access.bits.address, 0.U(64.W))(
    shown.map { case (register, value) => register.offset.U -> value }
  )
}
