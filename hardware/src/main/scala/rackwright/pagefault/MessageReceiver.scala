package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.access.TagAllocator
import rackwright.network.InternetSum
import rackwright.port.{MemoryPort, StreamFlit}

/** Receives answers and writes pages to their frames.
  *
  * It never stalls the network: data that it cannot write immediately make the message damaged, like a wrong checksum,
  * and damaged messages are ignored.
  */
class MessageReceiver(params: Params) extends Module {
  val network = IO(Flipped(Decoupled(new StreamFlit(Sizes.flitBytes))))
  val memory = IO(new MemoryPort(params.pages))

  /** The header; a cycle later, the result shows whether such a response is awaited, and the frame of its page. */
  val lookup = IO(Output(new Incoming))
  val expectedFetch = IO(Input(Bool()))
  val expectedStore = IO(Input(Bool()))
  val frame = IO(Input(UInt(Sizes.frameBits.W)))

  /** An awaited page starts to arrive for the slot. */
  val claimed = IO(Valid(UInt(4.W)))

  /** It was damaged. */
  val abandoned = IO(Valid(UInt(4.W)))

  /** A page has arrived completely for the slot, and its writes have responses, with a fault or without. */
  val arrived = IO(Valid(UInt(4.W)))
  val faulted = IO(Output(Bool()))

  /** A store, or a fetch without a page, was answered. */
  val answered = IO(Valid(new Incoming))
  val dropped = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  network.ready := true.B
  private val flit = RegNext(network.bits)
  private val valid = RegNext(network.valid, false.B)
  private val number = RegInit(0.U(10.W))
  private val header = Reg(new Incoming)
  private val known = RegInit(false.B)

  // From the first flit: it is a message of a blade, and its kind.
  private val marked = Reg(Bool())
  private val store = Reg(Bool())
  private val beginning = flit.data(127, 64)
  when(valid) { number := Mux(flit.last, 0.U, number + 1.U) }
  when(valid && number === 0.U) {
    store := beginning(57)
    marked := beginning(55, 32) === Message.mark.U && beginning(63) && beginning(57) =/= beginning(56)
  }
  private val asks = valid && number === 1.U
  when(asks) {
    known := marked && flit.data(31) && flit.data(30) === store
    header.store := store
    header.sequence := flit.data(15, 0)
    header.slot := flit.data(19, 16)
    header.done := flit.data(39, 32) === Message.done.U
    header.page := flit.data(64 + Entry.pageNumberBits - 1, 64)
  }
  lookup := header

  // Flits may follow each other in consecutive cycles: decisions on a message are delayed by four cycles, so that the
  // result of the lookup is ready before the first beat, and the sum directly after the last flit.
  private val delay = 4
  private val behind = ShiftRegister(flit, delay)
  private val behindValid = ShiftRegister(valid, delay, false.B, true.B)
  private val behindNumber = ShiftRegister(number, delay)
  private val beat = ShiftRegister((number - (Message.headerFlits + 1).U)(7, 0), delay)
  private val inPage = ShiftRegister(
    number > Message.headerFlits.U && number <= Message.lastOfPage.U,
    delay,
    false.B,
    true.B
  )

  // The next message may be looked up in the cycle in which this one ends.
  private val looking = ShiftRegister(asks, 2, false.B, true.B)
  private val current = RegInit(0.U.asTypeOf(new Reception))
  private val accepted = known && (expectedFetch || expectedStore)
  private val withPage = accepted && expectedFetch && header.done
  private val ended = behindValid && behind.last
  claimed.valid := looking && withPage
  claimed.bits := header.slot
  when(ended) {
    current.expected := false.B
    current.withPage := false.B
  }
  when(looking) {
    current.expected := accepted
    current.withPage := withPage
    current.answer := header
    current.frame := frame
  }
  private val writes = behindValid && inPage && current.withPage
  private val held = RegEnable(behind.data(127, 64), behindValid)

  // Two pages may be in progress: one whose writes are outstanding, and the one that is arriving.
  private val epoch = RegInit(false.B)
  private val epochs = Reg(UInt(params.outstanding.W))
  private val unanswered = RegInit(VecInit.fill(2)(0.U(9.W)))
  private val faults = RegInit(VecInit.fill(2)(false.B))
  private val tags = Module(new TagAllocator(params.outstanding))
  private val pending = Module(new Queue(new PageBeat, 4))
  pending.io.enq.valid := writes
  pending.io.enq.bits.frame := current.frame
  pending.io.enq.bits.beat := beat
  pending.io.enq.bits.data := Cat(behind.data(63, 0), held)
  pending.io.enq.bits.epoch := epoch
  private val write = pending.io.deq
  memory.request.valid := write.valid && tags.allocate.valid
  memory.request.bits.address := Cat(write.bits.frame, write.bits.beat, 0.U(4.W))
  memory.request.bits.write := true.B
  memory.request.bits.data := write.bits.data
  memory.request.bits.mask := "hffff".U
  memory.request.bits.tag := tags.allocate.bits
  write.ready := memory.request.ready && tags.allocate.valid
  tags.allocate.ready := memory.request.ready && write.valid
  private val allotted = Mux(memory.request.fire, UIntToOH(tags.allocate.bits, params.outstanding), 0.U)
  epochs := (epochs & ~allotted) | Mux(write.bits.epoch, allotted, 0.U)

  memory.response.ready := true.B
  private val response = RegNext(memory.response.bits)
  private val responded = RegNext(memory.response.valid, false.B)
  tags.free.valid := responded
  tags.free.bits := response.tag
  private val respondedEpoch = epochs(response.tag)
  for (e <- 0 until 2) {
    val more = pending.io.enq.fire && epoch === (e == 1).B
    val fewer = responded && respondedEpoch === (e == 1).B
    unanswered(e) := unanswered(e) + more - fewer
    when(fewer && response.fault) { faults(e) := true.B }
  }

  // The sum of all bytes from byte 14 on, including the checksum, is all ones.
  private val sum = Module(new InternetSum(Bool(), Sizes.flitBytes))
  sum.in.valid := valid
  sum.in.bits.data := flit.data
  sum.in.bits.mask := Mux(number === 0.U, flit.keep & "hc000".U, flit.keep)
  sum.in.bits.odd := false.B
  sum.in.bits.first := number === 0.U
  sum.in.bits.initial := 0.U
  sum.in.bits.along := flit.last
  sum.out.ready := true.B
  assert(!valid || sum.in.ready, "the sum has a flit wait")
  private val right = RegNext(sum.out.bits.sum === "hffff".U)
  private val summed = RegNext(sum.out.valid && sum.out.bits.along, false.B)

  // Received properties are stored until the sum is ready, while the next message starts.
  private val damaged = RegInit(false.B)
  private val lost = writes && !pending.io.enq.ready
  private val ending = RegInit(0.U.asTypeOf(new Reception))
  private val whole = RegInit(false.B)
  private val lastFlit = Mux(current.withPage, Message.lastOfPage.U, Message.lastWithoutPage.U)
  when(lost) { damaged := true.B }
  when(ended) {
    ending := current
    whole := !damaged && !lost && behindNumber === lastFlit && behind.keep(8)
    damaged := false.B
  }
  private val good = ending.expected && whole && right

  private val finishing = RegInit(0.U.asTypeOf(Valid(UInt(4.W))))
  private val settled = finishing.valid && unanswered(!epoch) === 0.U && !responded
  private val finished = finishing.valid && RegNext(settled, false.B)
  assert(!finished || unanswered(!epoch) === 0.U, "a page is told whose writes have not been answered")
  // A page takes far longer than the answers to the writes of the one before.
  private val taken = summed && good && ending.withPage && !finishing.valid
  when(taken) {
    finishing.valid := true.B
    finishing.bits := ending.answer.slot
    epoch := !epoch
  }
  arrived.valid := finished
  arrived.bits := finishing.bits
  faulted := faults(!epoch)
  when(finished) {
    finishing.valid := false.B
    faults(!epoch) := false.B
  }
  answered.valid := summed && good && !ending.withPage
  answered.bits := ending.answer
  abandoned.valid := summed && ending.withPage && !taken
  abandoned.bits := ending.answer.slot
  dropped := summed && !good

  // Long enough for a flit to reach the end of the pipeline above.
  private val active = RegInit(0.U(4.W))
  when(network.valid || finished) { active := 15.U }.elsewhen(active =/= 0.U) { active := active - 1.U }
  idle := !network.valid && active === 0.U && !write.valid && !memory.response.valid && !responded &&
    !RegNext(responded, false.B) && !finished
}

/** A beat of a page for memory. */
class PageBeat extends Bundle {
  val frame = UInt(Sizes.frameBits.W)
  val beat = UInt(8.W)
  val data = UInt(128.W)
  val epoch = Bool()
}

/** A message being received. */
class Reception extends Bundle {

  /** It answers a request that waits. */
  val expected = Bool()

  /** There is a page in it. */
  val withPage = Bool()
  val answer = new Incoming
  val frame = UInt(Sizes.frameBits.W)
}
