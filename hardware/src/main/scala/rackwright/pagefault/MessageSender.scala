package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.access.ReorderBuffer
import rackwright.network.InternetSum
import rackwright.port.{MemoryPort, StreamFlit}

/** The addresses on the network. */
class Addresses extends Bundle {
  val own = UInt(Sizes.hardwareAddressBits.W)
  val blades = Vec(Sizes.blades, UInt(Sizes.hardwareAddressBits.W))
}

/** Sends requests: header, page or padding, checksum. A page is read while it is sent. */
class MessageSender(params: Params, slots: Int) extends Module {
  val request = IO(Flipped(Decoupled(new Outgoing(slots))))
  val addresses = IO(Input(new Addresses))
  val memory = IO(new MemoryPort(params.pages))
  val network = IO(Decoupled(new StreamFlit(Sizes.flitBytes)))
  val idle = IO(Output(Bool()))

  private val current = Reg(new Outgoing(slots))
  private val to = Reg(UInt(Sizes.hardwareAddressBits.W))
  private val busy = RegInit(false.B)
  private val ready = RegInit(false.B)
  private val number = RegInit(0.U(9.W))
  private val lastFlit = Reg(UInt(9.W))
  private val inBody = Reg(Bool())

  // The upper half of a beat waits for the flit after it. In front of the first beat, it is the end of the header.
  private val held = Reg(UInt(64.W))

  // Reads go ahead as far as there is room for their answers.
  private val reader = Module(new ReorderBuffer(params.pages, params.outstanding))
  private val readsLeft = RegInit(0.U(log2Ceil(Sizes.pageBeats + 1).W))
  private val beat = Reg(UInt(log2Ceil(Sizes.pageBeats).W))
  reader.clear := false.B
  reader.response <> memory.response
  memory.request.valid := readsLeft =/= 0.U && reader.reserve.valid
  reader.reserve.ready := readsLeft =/= 0.U && memory.request.ready
  memory.request.bits.read(Cat(current.frame, beat, 0.U(4.W)), reader.reserve.bits)
  when(memory.request.fire) {
    beat := beat + 1.U
    readsLeft := readsLeft - 1.U
  }

  request.ready := !busy
  when(request.fire) {
    busy := true.B
    ready := false.B
    current := request.bits
    to := addresses.blades(Entry.blade(request.bits.entry))
    number := 0.U
    inBody := false.B
    held := 0.U
    readsLeft := Mux(request.bits.store, Sizes.pageBeats.U, 0.U)
    beat := 0.U
  }
  when(busy && !ready) {
    ready := true.B
    lastFlit := Mux(current.store, Message.lastOfPage.U, Message.lastWithoutPage.U)
  }

  private def bytes(address: UInt): UInt = Cat((0 until 6).map(i => address(8 * i + 7, 8 * i)))
  private val own = bytes(addresses.own)
  private val operation = Mux(current.store, Message.store.U(8.W), Message.fetch.U(8.W))
  private val tag = Cat(1.U(1.W), current.store, 0.U(10.W), current.slot.pad(4), current.sequence)
  private val header = VecInit(
    Cat(operation, Message.mark.U(24.W), own, bytes(to)),
    Cat(Entry.page(current.entry).pad(64), Entry.version(current.entry), 0.U(16.W), tag)
  )

  private val isHeader = number < Message.headerFlits.U
  private val isLast = number === lastFlit
  private val fromPage = inBody && current.store
  private val sum = Module(new InternetSum(Bool(), Sizes.flitBytes))
  private val delayed = Module(new Queue(UInt(128.W), 8, pipe = true))
  private val body = Cat(Mux(fromPage, reader.beat.bits.data(63, 0), 0.U(64.W)), held)
  private val data = Mux(isHeader, header(number(0)), body)
  private val available = busy && ready && (!fromPage || reader.beat.valid)
  sum.in.valid := available && delayed.io.enq.ready
  sum.in.bits.data := data
  sum.in.bits.mask := Mux(number === 0.U, "hc000".U, "hffff".U)
  sum.in.bits.odd := false.B
  sum.in.bits.first := number === 0.U
  sum.in.bits.initial := 0.U
  sum.in.bits.along := isLast
  private val moves = sum.in.fire
  delayed.io.enq.valid := moves
  delayed.io.enq.bits := data
  reader.beat.ready := moves && fromPage
  when(moves) {
    number := number + 1.U
    inBody := (number === (Message.headerFlits - 1).U) || (inBody && number + 1.U =/= lastFlit)
    when(fromPage) { held := reader.beat.bits.data(127, 64) }
    when(isLast) { busy := false.B }
  }

  private val out = Wire(Decoupled(new StreamFlit(Sizes.flitBytes)))
  private val last = sum.out.bits.along
  private val checksum = ~sum.out.bits.sum
  out.valid := sum.out.valid
  sum.out.ready := out.ready
  delayed.io.deq.ready := sum.out.fire
  private val ending = Cat(0.U(48.W), checksum(7, 0), checksum(15, 8))
  out.bits.data := Cat(Mux(last, ending, delayed.io.deq.bits(127, 64)), delayed.io.deq.bits(63, 0))
  out.bits.keep := "hffff".U
  out.bits.last := last
  network <> Queue(out, 2)
  assert(!sum.out.valid || delayed.io.deq.valid, "a sum without its flit")
  idle := !request.valid && !moves && sum.idle && !network.valid && !memory.request.valid && reader.still &&
    !(busy && !ready)
}
