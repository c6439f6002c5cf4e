package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPortParams, Status}

/** Registers between a block and the shared store port: the block has ended when it is done and its stores have left,
  * so that no later store overtakes them.
  */
class StoreStage(port: MemoryPortParams) extends Module {

  /** From the block. */
  val store = IO(Flipped(Decoupled(new Store(port))))
  val done = IO(Flipped(Valid(UInt(Status.width.W))))

  /** The stores, one cycle or more later; the end of the block, with its last store or later. */
  val leaves = IO(Decoupled(new Store(port)))
  val over = IO(Valid(UInt(Status.width.W)))

  /** No store waits here. */
  val quiet = IO(Output(Bool()))

  private val waiting = Module(new Queue(new Store(port), 2))
  private val ended = RegInit(0.U.asTypeOf(Valid(UInt(Status.width.W))))
  waiting.io.enq <> store
  leaves <> waiting.io.deq
  quiet := !leaves.valid
  over.valid := ended.valid && (quiet || (leaves.fire && waiting.io.count === 1.U))
  over.bits := ended.bits
  when(over.valid) { ended.valid := false.B }
  when(done.valid) { ended := done }
}
