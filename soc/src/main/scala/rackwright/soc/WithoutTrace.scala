package rackwright.soc

import firrtl._
import firrtl.ir._

/** Takes out what Rocket prints of every instruction: whoever simulates the top wants to see what asserts print. */
class WithoutTrace extends Transform {
  def inputForm: CircuitForm = HighForm
  def outputForm: CircuitForm = HighForm

  def execute(state: CircuitState): CircuitState =
    state.copy(circuit = state.circuit.mapModule {
      case module: Module => module.mapStmt(kept)
      case other => other
    })

  private def kept(statement: Statement): Statement = statement match {
    case print: Print if !print.string.string.startsWith("Assertion") => EmptyStmt
    case other => other.mapStmt(kept)
  }
}
