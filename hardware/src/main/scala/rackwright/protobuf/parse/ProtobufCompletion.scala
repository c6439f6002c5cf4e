package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Status}
import rackwright.stream.HeadQueue

/** The end of a request, and the address of its record. */
class ProtobufCompletion extends Bundle {

  /** Address of the completion record, a multiple of 32, or 0. */
  val record = UInt(64.W)
  val status = UInt(Status.width.W)

  /** The second word of the record. */
  val word1 = UInt(64.W)

  /** The group of writes that must be answered first. */
  val turn = UInt(log2Ceil(ProtobufCompleter.groups).W)
}

/** Completes requests in order: waits for their writes, writes their records, and counts them. */
class ProtobufCompleter(port: MemoryPortParams) extends Module {
  import ProtobufCompleter.groups

  /** One for each request; there is room for one of each group. */
  val completion = IO(Flipped(Decoupled(new ProtobufCompletion)))

  /** Every write of a group has been answered; one was answered with a fault; the fault has been recorded. */
  val quiet = IO(Input(Vec(groups, Bool())))
  val faulted = IO(Input(Vec(groups, Bool())))
  val clear = IO(Output(Vec(groups, Bool())))

  /** No request of the group waits here. */
  val free = IO(Output(Vec(groups, Bool())))

  /** Requests completed since reset. */
  val completed = IO(Output(UInt(64.W)))

  /** 1 + status of the first request that failed since `reported`, or 0. */
  val failure = IO(Output(UInt(64.W)))
  val reported = IO(Input(Bool()))

  /** Writes only, one at a time. */
  val memory = IO(new MemoryPort(port))

  private val completions = Module(new HeadQueue(new ProtobufCompletion, groups, direct = true))
  private val waiting = completions.out
  private val bits = waiting.bits
  completions.in <> completion
  private val asked = RegInit(false.B)
  private val answered = RegInit(false.B)
  private val recordFault = RegInit(false.B)
  private val count = RegInit(0.U(64.W))
  private val first = RegInit(0.U((Status.width + 1).W))

  private val settled = waiting.valid && quiet(bits.turn)
  private val status = Mux(faulted(bits.turn) || recordFault, Status.accessFault, bits.status)
  private val hasRecord = bits.record =/= 0.U
  private val line = Store.line(port, bits.record, Cat(bits.word1, (status +& 1.U).pad(64)))
  memory.request.valid := settled && hasRecord && !asked
  memory.request.bits.address := Cat(bits.record >> port.offsetBits, 0.U(port.offsetBits.W))
  memory.request.bits.write := true.B
  memory.request.bits.data := line.data
  memory.request.bits.mask := line.mask
  memory.request.bits.tag := 0.U
  memory.response.ready := true.B
  when(memory.request.fire) { asked := true.B }
  when(memory.response.valid) {
    answered := true.B
    recordFault := memory.response.bits.fault
  }

  private val ends = settled && (!hasRecord || answered)
  waiting.ready := ends
  when(ends) {
    asked := false.B
    answered := false.B
    recordFault := false.B
    count := count + 1.U
  }
  when(reported) { first := 0.U }
  when(ends && status =/= Status.ok && (first === 0.U || reported)) { first := status +& 1.U }
  completed := count
  failure := first
  private val held = RegInit(VecInit.fill(groups)(false.B))
  for (group <- 0 until groups) {
    clear(group) := ends && bits.turn === group.U
    free(group) := !held(group)
    when(clear(group)) { held(group) := false.B }
    when(completion.fire && completion.bits.turn === group.U) { held(group) := true.B }
  }
}

/** Constants of a [[ProtobufCompleter]]. */
object ProtobufCompleter {

  /** Maximum number of requests with outstanding writes, each with a group of its own. */
  val groups: Int = 16
}
