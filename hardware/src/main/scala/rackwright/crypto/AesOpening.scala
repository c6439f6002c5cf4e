package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.access.WriterRange
import rackwright.operation.{Operation, OperationResult}
import rackwright.port.Status
import rackwright.stream.StreamRange

/** The properties of an operation at its start. */
class OpenedOperation extends Bundle {
  val range = new WriterRange

  /** It has ended already. */
  val refused = Bool()
  val refusal = new OperationResult

  /** Bytes of its input. */
  val length = UInt(64.W)
}

/** Accepts operations: refuses unsupported ones, starts the expansion of keys that differ from the latest one, and
  * starts the input.
  *
  * @param heldBytes
  *   text that may be held until its tag is known.
  */
class AesOpening(heldBytes: Int) extends Module {
  import AesOpening._

  val operation = IO(Flipped(Decoupled(new Operation(AesSettings.all))))

  /** To the end of operations, the loader, the cutter, and the issuer, at the same time. */
  val opened = IO(Decoupled(new OpenedOperation))
  val range = IO(Decoupled(new StreamRange))
  val cut = IO(Decoupled(new CipherRequest))
  val issue = IO(Decoupled(new CipherRequest))

  /** To the expander; the key of each slot. */
  val key = IO(Decoupled(new CipherKey))
  val slot = IO(Output(UInt(1.W)))
  val sizes = IO(Output(Vec(CipherPipeline.slots, UInt(2.W))))
  val inverse = IO(Output(Vec(CipherPipeline.slots, Bool())))

  /** An operation has left the cipher. */
  val ended = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val asks = Reg(new Operation(AesSettings.all))
  private def value(setting: rackwright.operation.Setting): UInt = asks.setting(setting.name)

  // The latest key, its slot, and the number of operations that use each slot.
  private val latest = Reg(new CipherKey)
  private val known = RegInit(false.B)
  private val latestSlot = RegInit(0.U(1.W))
  private val slotSizes = Reg(Vec(CipherPipeline.slots, UInt(2.W)))
  private val slotInverse = Reg(Vec(CipherPipeline.slots, Bool()))
  private val underWay = RegInit(VecInit.fill(CipherPipeline.slots)(0.U(3.W)))

  private val mode = value(AesSettings.mode)
  private val isGcm = mode === CipherMode.gcm.asUInt
  private val decrypts = value(AesSettings.decrypt) === 1.U
  private val counts = mode(1)
  private val length = asks.source.length
  private val tagBytes = Mux(isGcm && decrypts, 16.U, 0.U)
  private val wanted = Wire(new CipherKey)
  private val size = (value(AesSettings.keyBytes) >> 3) - 2.U
  wanted.size := size
  wanted.inverse := decrypts && !counts
  private val keyBits = VecInit(AesSettings.key.map(value(_))).asUInt
  // Bytes after the key are ignored.
  wanted.bytes := Mux(size === 2.U, keyBits, Mux(size === 1.U, keyBits(191, 0), keyBits(127, 0)))

  // Properties known one cycle after the operation, and one cycle after that.
  private val extraBytes = Mux(isGcm, value(AesSettings.extraBytes), 0.U)
  private val others = RegNext(extraBytes +& tagBytes)
  private val textBytes = RegNext(length(lengthBits - 1, 0) - others)
  private val tooShort = RegNext(others > length)
  private val tooLong = RegNext((length >> lengthBits).orR)
  private val unheld = RegNext(isGcm && decrypts && length - others > heldBytes.U)
  private val ragged = RegNext(!counts && length(3, 0) =/= 0.U)
  private val unknown = RegNext(
    mode(2) || value(AesSettings.decrypt)(1) || !Seq(16, 24, 32).map(value(AesSettings.keyBytes) === _.U).reduce(_ || _)
  )
  private val same = RegNext(known && latest.asUInt === wanted.asUInt)

  private val unsupported = RegNext(unknown || tooLong || !tooShort && unheld)
  private val malformed = RegNext(tooShort || ragged)
  private val refused = unsupported || malformed
  private val renews = !same
  private val mine = Mux(renews, !latestSlot, latestSlot)
  private val keyReady = !renews || key.ready && underWay(mine) === 0.U
  private val room = underWay(mine) =/= 7.U
  private val starts = range.ready && cut.ready && issue.ready && keyReady && room
  private val goes = state === State.ready && opened.ready && (refused || starts)
  private val begins = goes && !refused

  operation.ready := state === State.idle
  opened.valid := goes
  opened.bits.range.address := asks.destination
  opened.bits.range.capacity := asks.capacity
  opened.bits.refused := refused
  opened.bits.refusal.status := Mux(unsupported, Status.unsupported, Status.malformed)
  opened.bits.refusal.outputBytes := 0.U
  opened.bits.refusal.inputOffset := Mux(unsupported, 0.U, Mux(tooShort, length, length(63, 4) ## 0.U(4.W)))
  opened.bits.length := length
  range.valid := begins
  range.bits := asks.source
  for (to <- Seq(cut, issue)) {
    to.valid := begins
    to.bits.mode := CipherMode(mode(1, 0))
    to.bits.decrypt := decrypts
    to.bits.slot := mine
    to.bits.start := VecInit(AesSettings.start.map(value(_))).asUInt
    to.bits.extraBytes := extraBytes
    to.bits.textBytes := textBytes
  }
  key.valid := begins && renews
  key.bits := wanted
  slot := latestSlot
  sizes := slotSizes
  inverse := slotInverse

  // Operations leave in order: their slots are in a queue.
  private val order = Module(new Queue(UInt(1.W), 8))
  order.io.enq.valid := begins
  order.io.enq.bits := mine
  order.io.deq.ready := ended
  for (i <- 0 until CipherPipeline.slots) {
    underWay(i) := underWay(i) + (begins && mine === i.U) - (ended && order.io.deq.bits === i.U)
  }

  switch(state) {
    is(State.idle) {
      when(operation.fire) {
        asks := operation.bits
        state := State.first
      }
    }
    is(State.first) { state := State.second }
    is(State.second) { state := State.third }
    is(State.third) { state := State.ready }
    is(State.ready) { when(goes) { state := State.idle } }
  }
  when(key.fire) {
    latest := wanted
    known := true.B
    latestSlot := mine
    slotSizes(mine) := wanted.size
    slotInverse(mine) := wanted.inverse
  }
}

object AesOpening {

  /** Bits of the maximum lengths: those of GCM (NIST SP 800-38D, section 5.2.1.1). */
  val lengthBits: Int = 36

  /** An operation is processed in four cycles. */
  object State extends ChiselEnum {
    val idle, first, second, third, ready = Value
  }
}
