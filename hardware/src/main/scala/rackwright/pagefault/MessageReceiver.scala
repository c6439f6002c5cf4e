package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.memory.{MemoryPort, TagAllocator}
import rackwright.network.StreamFlit
import rackwright.nic.{Frame, InternetSum}

/** Receives answers and writes pages to their frames.
  *
  * It never has the network wait: what it cannot write at once makes the message damaged, as a wrong checksum does, and
  * damaged messages are as if they had not come.
  */
class MessageReceiver(params: Params) extends Module {
  val network = IO(Flipped(Decoupled(new StreamFlit(Frame.flitBytes))))
  val memory = IO(new MemoryPort(params.pages))

  /** What the header says; a cycle later it is told whether such an answer is awaited, and where its page goes. */
  val lookup = IO(Output(new Incoming))
  val expectedFetch = IO(Input(Bool()))
  val expectedStore = IO(Input(Bool()))
  val frame = IO(Input(UInt(Sizes.frameBits.W)))

  /** A page that is awaited begins to come for the slot. */
  val claimed = IO(Valid(UInt(4.W)))

  /** It was damaged. */
  val abandoned = IO(Valid(UInt(4.W)))

  /** A page has come whole for the slot, and its writes have been answered, with a fault or without. */
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
  private val low = Reg(UInt(64.W))

  when(valid) { number := Mux(flit.last, 0.U, number + 1.U) }
  when(valid && number === 1.U) {
    header.store := flit.data(57)
    known := flit.data(55, 32) === Message.mark.U && flit.data(63) && flit.data(57) =/= flit.data(56)
  }
  when(valid && number === 2.U) {
    header.sequence := flit.data(15, 0)
    header.slot := flit.data(19, 16)
    header.done := flit.data(39, 32) === Message.done.U
    when(!flit.data(31) || flit.data(30) =/= header.store) { known := false.B }
  }
  when(valid && number === 3.U) { header.page := flit.data(Entry.pageNumberBits - 1, 0) }
  lookup := header

  // Flits may follow each other in consecutive cycles: what is decided for a page waits three cycles behind them, so that
  // the answer to the lookup is there before the first beat.
  private val looking = ShiftRegister(valid && number === 3.U, 2, false.B, true.B)
  private val current = RegInit(0.U.asTypeOf(new Reception))
  private val accepted = known && (expectedFetch || expectedStore)
  private val withPage = accepted && expectedFetch && header.done
  claimed.valid := looking && withPage
  claimed.bits := header.slot
  when(looking) {
    current.expected := accepted
    current.withPage := withPage
    current.answer := header
    current.frame := frame
  }

  private val behind = ShiftRegister(flit, 3)
  private val behindValid = ShiftRegister(valid, 3, false.B, true.B)
  private val behindNumber = ShiftRegister(number, 3)
  private val bodyNumber = ShiftRegister(number - Message.headerFlits.U, 3)
  private val inPage = ShiftRegister(
    number >= Message.headerFlits.U && number < (Message.headerFlits + Message.pageFlits).U,
    3,
    false.B,
    true.B
  )
  private val writes = behindValid && inPage && bodyNumber(0) && current.withPage && !behind.last
  private val ended = behindValid && behind.last

  // Two pages may be under way: one whose writes are being answered, and the one that is coming.
  private val epoch = RegInit(false.B)
  private val epochs = Reg(UInt(params.outstanding.W))
  private val unanswered = RegInit(VecInit.fill(2)(0.U(9.W)))
  private val faults = RegInit(VecInit.fill(2)(false.B))
  private val tags = Module(new TagAllocator(params.outstanding))
  private val pending = Module(new Queue(new PageBeat, 4))
  when(behindValid && inPage && !bodyNumber(0)) { low := behind.data }
  pending.io.enq.valid := writes
  pending.io.enq.bits.frame := current.frame
  pending.io.enq.bits.beat := bodyNumber(8, 1)
  pending.io.enq.bits.data := Cat(behind.data, low)
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

  // The sum of everything from byte 14 on, its checksum included, is all ones.
  private val sum = Module(new InternetSum(Bool()))
  sum.in.valid := valid
  sum.in.bits.data := flit.data
  sum.in.bits.mask := Mux(number === 0.U, 0.U, Mux(number === 1.U, "hc0".U, "hff".U))
  sum.in.bits.odd := false.B
  sum.in.bits.first := number === 0.U
  sum.in.bits.initial := 0.U
  sum.in.bits.along := flit.last
  sum.out.ready := true.B
  assert(!valid || sum.in.ready, "the sum has a flit wait")
  private val right = RegNext(sum.out.bits.sum === "hffff".U)
  private val summed = RegNext(sum.out.valid && sum.out.bits.along, false.B)

  // What has come stays known until its sum is, while the next message begins.
  private val damaged = RegInit(false.B)
  private val lost = writes && !pending.io.enq.ready
  private val ending = RegInit(0.U.asTypeOf(new Reception))
  private val whole = RegInit(false.B)
  private val bodyFlits = Mux(current.withPage, Message.pageFlits.U, Message.paddingFlits.U)
  when(lost) { damaged := true.B }
  when(ended) {
    ending := current
    whole := !damaged && !lost && behindNumber === Message.headerFlits.U + bodyFlits
    current.expected := false.B
    current.withPage := false.B
    damaged := false.B
  }
  private val known3 = ShiftRegister(summed, 2, false.B, true.B)
  private val good = ending.expected && whole && ShiftRegister(right, 2)

  private val finishing = RegInit(0.U.asTypeOf(Valid(UInt(4.W))))
  private val finished = finishing.valid && RegNext(unanswered(!epoch) === 0.U && !responded, false.B)
  // A page takes far longer than the answers to the writes of the one before.
  private val taken = known3 && good && ending.withPage && !finishing.valid
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
  answered.valid := known3 && good && !ending.withPage
  answered.bits := ending.answer
  abandoned.valid := known3 && ending.withPage && !taken
  abandoned.bits := ending.answer.slot
  dropped := known3 && !good

  // Long enough for a flit to reach the end of everything above.
  private val active = RegInit(0.U(4.W))
  when(network.valid || finished) { active := 15.U }.elsewhen(active =/= 0.U) { active := active - 1.U }
  idle := !network.valid && active === 0.U && !write.valid && !memory.response.valid && !responded &&
    !RegNext(responded, false.B) && !finished
}

/** A beat of a page on its way to memory. */
class PageBeat extends Bundle {
  val frame = UInt(Sizes.frameBits.W)
  val beat = UInt(8.W)
  val data = UInt(128.W)
  val epoch = Bool()
}

/** A message that is coming. */
class Reception extends Bundle {

  /** It answers a request that waits. */
  val expected = Bool()

  /** There is a page in it. */
  val withPage = Bool()
  val answer = new Incoming
  val frame = UInt(Sizes.frameBits.W)
}
