package rackwright.allocate

import chisel3._
import chisel3.util._

import rackwright.port.CommandSet
import rackwright.unit.HardwareUnit

/** Allocates and frees memory of a heap. README.md is the contract. */
class Allocate(params: Params) extends HardwareUnit {
  val command = commandPort(CommandSet(AllocateCommands.commands), Allocate.opcode)
  val memory = memoryPort(params.port)
  val idle = idlePort()

  private val control = Module(new AllocateControl(params))
  private val kept = Module(new KeptBlocks(params))
  private val recent = Module(new RecentBlocks(params))
  private val taker = Module(new Taker)
  private val releaser = Module(new Releaser)
  private val editor = Module(new ListEditor)
  private val lists = Module(new FreeLists)
  private val classifier = Module(new SizeClassifier)
  private val blocks = Module(new BlockMemory(params))

  command <> control.command
  memory <> blocks.memory
  idle := control.idle

  kept.clear := control.clear
  kept.size := control.keptSize
  kept.push := control.push
  kept.pop := control.pop
  control.keptAny := kept.any
  control.keptRoom := kept.room
  control.popped := kept.popped
  recent.clear := control.clear
  recent.handed := control.recent
  recent.back := control.back
  control.isKnown := recent.known
  control.knownSize := recent.size

  taker.want <> control.want
  control.taken := taker.taken
  releaser.give <> control.give
  control.gaveBack := releaser.done
  control.neighbourBroken := releaser.broken

  // One of them is at work at a time, but for the editor, which works for the others.
  editor.edit <> Allocate.first(taker.edit, releaser.edit, control.edit)
  blocks.read <> Allocate.first(taker.read, releaser.read, control.read)
  blocks.write <> Allocate.first(editor.write, taker.write, releaser.write, control.write)
  for (reader <- Seq(taker.block, releaser.block, control.block)) reader := blocks.block
  for (asker <- Seq(taker.edited, releaser.edited, control.edited)) asker := editor.done
  classifier.question := Mux(editor.question.valid, editor.question, taker.question)
  lists.search := Mux(editor.search.valid, editor.search, taker.search)
  for (asker <- Seq(editor.list, taker.list)) asker := classifier.list
  for (asker <- Seq(editor.found, taker.found)) asker := lists.found
  lists.change := editor.change
  lists.clear := control.clear

  blocks.base := control.base
  blocks.total := control.total
  blocks.leaving := taker.leaving
  taker.unsettled := blocks.unsettled
  control.refused := blocks.refused
  control.memoryIdle := blocks.idle

  event("busy", control.busy)
  event("kept", control.hit)
  event("exhausted", control.exhausted)
  event("wrong", control.wrong)
}

/** Constants of the allocator. */
object Allocate {

  /** custom-1. */
  val opcode: Int = 1

  /** The first of the requesters. */
  private def first[T <: Data](askers: DecoupledIO[T]*): DecoupledIO[T] = {
    val chosen = Wire(chiselTypeOf(askers.head))
    chosen.valid := askers.map(_.valid).reduce(_ || _)
    chosen.bits := PriorityMux(askers.map(asker => asker.valid -> asker.bits))
    for ((asker, earlier) <- askers.zip(askers.scanLeft(false.B)(_ || _.valid)))
      asker.ready := chosen.ready && !earlier
    chosen
  }
}
