package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** An access to up to 64 bytes of one line. */
class LineRequest extends Bundle {

  /** A multiple of 16. */
  val address = UInt(64.W)
  val write = Bool()
  val data = UInt(512.W)

  /** Beats of 16 bytes, 1 to 4. */
  val beats = UInt(3.W)

  /** Which words of 8 bytes a write or a watch is about, the first one in the low bit. */
  val words = UInt(8.W)

  /** A read of one beat whose response is sent when memory differs from `data`; a write that is a compare-and-swap of
    * the first word.
    */
  val watch = Bool()
}

/** The contents of memory there, and whether it refused one of the beats. */
class LineResponse extends Bundle {
  val data = UInt(512.W)
  val fault = Bool()
}

/** Requests the beats of a line one after the other, and responds when all of them have responses. */
class LineAccess extends Module {
  import LineAccess._

  /** Offered until its response: `ready` is high together with the response. */
  val request = IO(Flipped(Decoupled(new LineRequest)))
  val response = IO(Output(new LineResponse))
  val memory = IO(new MemoryPort(port))

  /** Has a watch be answered at once. */
  val withdraw = IO(Input(Bool()))

  /** A beat has been requested, and the request has no response yet. */
  val busy = IO(Output(Bool()))

  /** Only the response to a watch is pending. */
  val watches = IO(Output(Bool()))

  private val asked = RegInit(0.U(3.W))
  private val answered = RegInit(0.U(3.W))
  private val lanes = Reg(Vec(4, UInt(128.W)))
  private val fault = RegInit(false.B)

  // The second beat of a watch ends it.
  private val ended = RegInit(false.B)
  private val beats = request.bits.beats + ended
  private val isWatch = request.bits.watch && !request.bits.write
  private val ends = isWatch && withdraw && !ended && asked === 1.U && answered === 0.U
  private val beat = asked(1, 0)
  private val masked = FillInterleaved(8, VecInit.tabulate(4)(lane => request.bits.words(2 * lane + 1, 2 * lane))(beat))
  memory.request.valid := request.valid && (asked =/= beats || ends)
  memory.request.bits.address := request.bits.address + (asked << 4)
  memory.request.bits.write := request.bits.write
  memory.request.bits.watch.foreach(_ := request.bits.watch)
  memory.request.bits.tag := beat
  memory.request.bits.data := VecInit.tabulate(4)(lane => request.bits.data(128 * lane + 127, 128 * lane))(beat)
  memory.request.bits.mask := Mux(ends, 0.U, masked)
  memory.response.ready := true.B

  when(memory.request.fire) {
    asked := asked + 1.U
    ended := ends
  }
  when(memory.response.valid) {
    answered := answered + 1.U
    lanes(memory.response.bits.tag) := memory.response.bits.data
    fault := fault || memory.response.bits.fault
  }
  request.ready := request.valid && answered === beats
  response.data := lanes.asUInt
  response.fault := fault
  busy := asked =/= 0.U
  watches := isWatch && asked === 1.U && answered === 0.U && !ends
  when(request.fire) {
    asked := 0.U
    answered := 0.U
    ended := false.B
    fault := false.B
  }
  assert(!memory.response.valid || answered < asked, "memory answers what it was not asked")
}

/** Shape of the port. */
object LineAccess {
  val port: MemoryPortParams = MemoryPortParams(16, tagBits = 2, watch = true)
}
