package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.access.{MemoryArbiter, StreamLoader, StreamWriter}
import rackwright.memory.SramQueue
import rackwright.operation.{CommandRouter, StreamCommands}
import rackwright.unit.HardwareUnit

/** Encrypts or decrypts ranges of memory. README.md is the contract. */
class Aes(params: Params) extends HardwareUnit {
  val command = commandPort(StreamCommands.of(AesSettings.all), Aes.opcode)
  val read = memoryPort(params.port)
  val write = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router =
    Module(new CommandRouter(Aes.opcode, AesSettings.all, params.commandQueue, params.port, underWay = Aes.underWay))
  private val opening = Module(new AesOpening(params.longest))
  private val loader = Module(new StreamLoader(params.port, 16, params.outstanding))
  private val cutter = Module(new BlockCutter)
  private val expander = Module(new KeyExpander)
  private val issuer = Module(new BlockIssuer)
  private val cipher = Module(new CipherPipeline)
  private val finisher = Module(new BlockFinisher)
  private val held = Module(new HeldBlocks(params.held))
  private val ending = Module(new AesEnding)
  private val writer = Module(new StreamWriter(params.port, 16, params.outstanding))
  private val arbiter = Module(new MemoryArbiter(params.port, 2))

  command <> router.command
  opening.operation <> router.operation
  router.result <> ending.result

  // Input, as far ahead as there is room.
  loader.range <> opening.range
  cutter.request <> opening.cut
  cutter.stream <> loader.stream
  loader.stop := RegNext(cutter.piece.fire && cutter.piece.bits.kind === PieceKind.end, false.B)
  private val pieces = Module(new SramQueue(new InputPiece, Aes.ahead))
  pieces.clear := false.B
  pieces.enq <> cutter.piece
  issuer.piece <> pieces.deq
  issuer.request <> Queue(opening.issue, Aes.underWay)

  // Keys.
  private val isExpanding = !expander.done
  expander.key <> opening.key
  cipher.key := expander.round
  cipher.keySlot := opening.slot
  cipher.sizes := opening.sizes
  cipher.inverse := opening.inverse
  issuer.keyed := !(isExpanding && issuer.request.bits.slot === opening.slot)

  // Blocks, with the information on each.
  private val running = !router.idle
  private val beside = Module(new SramQueue(new IssuedBlock, Aes.beside))
  beside.clear := false.B
  cipher.run := running
  issuer.open := cipher.open && held.roomy
  cipher.in := issuer.block
  beside.enq <> issuer.issued
  finisher.block := cipher.out
  finisher.issued <> beside.deq
  issuer.result := finisher.result
  opening.ended := finisher.ended
  held.in := finisher.output

  // Output.
  ending.piece <> held.out
  // The oldest is in a register, because the writer adds and compares its values when it takes it.
  ending.opened <> Queue(Queue(opening.opened, Aes.underWay), 1, pipe = true)
  writer.start <> ending.start
  writer.chunk <> ending.chunk
  writer.finish := ending.finish
  ending.written <> writer.result

  read <> loader.memory
  arbiter.ports(0) <> writer.memory
  arbiter.ports(1) <> router.memory
  write <> arbiter.memory
  idle := router.idle && loader.idle && writer.idle

  event("busy", running)
  event("blocks", issuer.block.valid)
  event("key_cycles", isExpanding)
  event("input_stall", issuer.waits)
  event("output_stall", running && !held.roomy)
}

/** Constants of the unit. */
object Aes {

  /** custom-2. */
  val opcode: Int = 2

  /** Operations that have started and not ended. */
  private val underWay: Int = 4

  /** Waiting blocks of input, and the information on those in the cipher: more than there can be. */
  private val ahead: Int = 128
  private val beside: Int = 32
}
