package rackwright

import java.nio.file.{Path, Paths}

import chisel3._
import chisel3.simulator.HasSimulator
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.funsuite.AnyFunSuite
import svsim.CommonCompilationSettings
import svsim.CommonCompilationSettings.OptimizationStyle.OptimizeForCompilationSpeed
import svsim.verilator.Backend.CompilationSettings

import scala.util.Random

/** A test of one block alone, in Verilator, with the assertions of its source. */
trait BlockTest extends AnyFunSuite with ChiselSim {
  override def buildDir: Path = Paths.get("target", "blocks")

  /** Blocks are small: one file of C++ for each, soon compiled. */
  implicit val verilator: HasSimulator = HasSimulator.simulators.verilator(
    CommonCompilationSettings(optimizationStyle = OptimizeForCompilationSpeed),
    CompilationSettings.default.withOutputSplit(Some(1000000))
  )

  /** Runs `test` on the block, reset. firtool does not verify its own data after each of its passes. */
  def block[T <: Module](make: => T)(test: T => Unit): Unit =
    simulate(make, firtoolOpts = Array("--verify-each=false"))(test)

  /** The same numbers in every run. */
  def seeded(seed: Int): Random = new Random(seed)

  /** The value of an output. */
  def value(output: UInt): BigInt = output.peek().litValue
  def number(output: UInt): Int = value(output).toInt
  def holds(output: Bool): Boolean = output.peek().litToBoolean

  /** Steps until `isSo`, and does `each` in every cycle before; fails after so many. */
  def await(clock: Clock, isSo: => Boolean, cycles: Int)(each: => Unit): Unit = {
    var left = cycles
    while (!isSo) {
      each
      clock.step()
      left -= 1
      assert(left > 0, s"nothing came in $cycles cycles")
    }
  }
}
