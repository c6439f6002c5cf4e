package rackwright.access.translation

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, CommandResponse, TranslatedCommandPort, TranslationContext, UnitCommand}

/** Passes commands of one context at a time to the unit, and responds to the query for faults.
  *
  * A command of another context waits until the unit is calm: all accesses of the unit are then of the one context.
  * README.md is the contract.
  */
class ContextGate extends Module {

  /** Commands of the core. */
  val outer = IO(new TranslatedCommandPort)

  /** The unit. */
  val inner = IO(Flipped(new CommandPort))

  /** No operation of the unit is in progress. */
  val calm = IO(Input(Bool()))

  /** The context of the unit. */
  val context = IO(Output(new TranslationContext))

  /** Flush the translations. */
  val forget = IO(Output(Bool()))

  /** The unit is to be reset, before commands of another process. */
  val renew = IO(Output(Bool()))

  /** Accesses that were refused, in one of the ports. */
  val fault = IO(Flipped(Valid(new TranslationFault)))

  /** No answer waits for the core. */
  val idle = IO(Output(Bool()))

  private val present = RegInit(0.U.asTypeOf(new TranslationContext))
  private val first = Reg(new TranslationFault)
  private val faulted = RegInit(false.B)
  private val due = RegInit(0.U(4.W))
  private val renewing = RegInit(0.U(log2Ceil(ContextGate.resetCycles + 1).W))

  /** High while `renewing` is not 0: a flop, because of its fan-out to all of the unit. */
  private val resets = RegInit(false.B)

  private val request = outer.request
  private val same = request.bits.context.asUInt === present.asUInt && renewing === 0.U
  private val asksForFault = request.bits.funct === ContextGate.fault.funct.U && request.bits.xd
  private val switch = request.valid && !asksForFault && !same && calm && due === 0.U && renewing === 0.U
  private val leaves = switch && request.bits.context.satp =/= present.satp

  inner.request.valid := request.valid && !asksForFault && same && due =/= 15.U
  inner.request.bits := request.bits
  private val answers = Wire(Decoupled(new CommandResponse))
  request.ready := Mux(asksForFault, due === 0.U && answers.ready, same && inner.request.ready && due =/= 15.U)

  // Responses are in order: that for a fault is sent only if no other is pending.
  private val own = request.valid && asksForFault && due === 0.U
  answers.valid := own || inner.response.valid
  answers.bits := inner.response.bits
  inner.response.ready := answers.ready
  when(own) {
    answers.bits.rd := request.bits.rd
    answers.bits.data := Mux(same && faulted, first.word, 0.U)
  }
  outer.response <> Queue(answers, 2)
  due := due + (inner.request.fire && request.bits.xd) - inner.response.fire

  when(fault.valid && !faulted) {
    faulted := true.B
    first := fault.bits
  }
  // Questions about the operation that ended leave it. A unit may stop being calm as soon as a command has arrived.
  when(inner.request.fire && RegNext(calm, true.B) && !request.bits.xd) { faulted := false.B }
  when(switch) {
    present := request.bits.context
    faulted := false.B
  }

  when(renewing =/= 0.U) { renewing := renewing - 1.U }
  when(leaves) { renewing := ContextGate.resetCycles.U }
  resets := leaves || renewing > 1.U

  // Not in the cycle in which the unit becomes calm, which is known late: while the unit is reset, it sends no
  // requests.
  context := present
  forget := outer.fence || renewing =/= 0.U
  renew := resets
  idle := !outer.response.valid && due === 0.U && renewing === 0.U

  assert(!(own && inner.response.valid), "an answer that was not due")
}

object ContextGate {

  /** Queries the address of a refused access; no unit uses its number. */
  val fault: UnitCommand =
    UnitCommand("fault", 127, answer = "where the first access since the last start was refused, or 0")

  /** Number of cycles for which a unit is reset. */
  val resetCycles: Int = 8
}
