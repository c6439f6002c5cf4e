package rackwright.nic.virtio

import chisel3._
import chisel3.util._

/** The result of a [[ChainGatherer]] for a frame. */
class Gathered extends Bundle {

  /** The oldest `number` chains have room for it. */
  val enough = Bool()
  val number = UInt(log2Ceil(Virtio.chainsPerFrame + 1).W)

  /** The maximum number of chains has no room for it. */
  val small = Bool()
}

/** Determines the number of chains that a frame fills, before its header is written, which contains it (virtio 1.2,
  * section 5.1.6.4): a chain per cycle, from the oldest one on.
  */
class ChainGatherer extends Module {
  val in = IO(Flipped(Decoupled(new Chain)))

  /** The oldest chain; not to be taken while a frame is processed. */
  val out = IO(Decoupled(new Chain))

  /** A frame may fill several. */
  val mergeable = IO(Input(Bool()))

  /** Bytes of the current frame, with its header. */
  val wanted = IO(Input(Valid(UInt(Virtio.totalBits.W))))
  val gathered = IO(Output(new Gathered))

  /** Drops everything in flight. */
  val clear = IO(Input(Bool()))

  /** The gatherer is inactive until a chain arrives or leaves, or there is another frame. */
  val idle = IO(Output(Bool()))

  private val entries = Virtio.chainsPerFrame
  private val chains = Reg(Vec(entries, new Chain))
  private val head = RegInit(0.U(log2Ceil(entries).W))
  private val held = RegInit(0.U(log2Ceil(entries + 1).W))

  /** Chains counted for this frame, and the room in them. */
  private val seen = RegInit(0.U(log2Ceil(entries + 1).W))
  private val room = RegInit(0.U(17.W))

  private val covered = room >= wanted.bits
  private val most = Mux(mergeable, seen === entries.U, seen === 1.U)
  private val looks = wanted.valid && !covered && !most && seen < held
  private val leaves = !wanted.valid && seen =/= 0.U
  private val place = (head + seen)(head.getWidth - 1, 0)
  gathered.enough := wanted.valid && covered
  gathered.small := wanted.valid && !covered && most
  gathered.number := seen
  when(looks) {
    seen := seen + 1.U
    room := room + chains(place).total
  }
  when(leaves) {
    seen := 0.U
    room := 0.U
  }

  in.ready := held =/= entries.U
  out.valid := held =/= 0.U
  out.bits := chains(head)
  when(in.fire) { chains((head + held)(head.getWidth - 1, 0)) := in.bits }
  when(out.fire) { head := head + 1.U }
  held := held + in.fire - out.fire
  idle := !looks && !leaves && !in.fire && !out.fire
  when(clear) {
    held := 0.U
    seen := 0.U
    room := 0.U
  }
}
