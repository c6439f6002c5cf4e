package rackwright.store

import chisel3._

/** Counts what a store has answered since reset, as memcached does. */
class Statistics extends Module {

  /** What is counted; the counters become 0. Both have an effect two cycles later. */
  val happened = IO(Input(Vec(Statistics.counters.size, Bool())))
  val clear = IO(Input(Bool()))

  val counts = IO(Output(Vec(Statistics.counters.size, UInt(64.W))))

  private val values = RegInit(VecInit.fill(Statistics.counters.size)(0.U(64.W)))
  private val happens = RegNext(happened)
  for ((value, adds) <- values.zip(happens)) when(adds) { value := value + 1.U }
  when(RegNext(clear, false.B)) { values.foreach(_ := 0.U) }
  counts := values
}

object Statistics {

  /** What is counted, by memcached's names and in its order. */
  val counters: Seq[String] = Seq("cmd_get", "cmd_set", "cmd_flush", "cmd_touch", "get_hits", "get_misses") ++
    Seq("delete_misses", "delete_hits", "incr_misses", "incr_hits", "decr_misses", "decr_hits") ++
    Seq("cas_misses", "cas_hits", "cas_badval", "touch_hits", "touch_misses")

  /** All that is said. */
  val names: Seq[String] = "time" +: counters :+ "curr_items"
}
