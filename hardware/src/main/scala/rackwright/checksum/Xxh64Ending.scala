package rackwright.checksum

import chisel3._
import chisel3.util._

/** The end of XXH64: the lanes are joined, then the bytes of an incomplete stripe are added, then the bits are mixed.
  * Nine cycles per multiplication, of which there are 2 to 31.
  */
class Xxh64Ending extends Module {
  import Xxh64Ending.State

  /** Begins; the other inputs are held from here to `done`. */
  val start = IO(Input(Bool()))
  val lanes = IO(Input(Vec(4, UInt(Xxh64.width.W))))
  val length = IO(Input(UInt(64.W)))

  /** The bytes after the last stripe, the first one lowest. */
  val rest = IO(Input(UInt(256.W)))
  val done = IO(Output(Bool()))
  val value = IO(Output(UInt(32.W)))

  private val state = RegInit(State.idle)
  private val hash = Reg(UInt(Xxh64.width.W))
  private val lane = Reg(UInt(2.W))
  private val left = Reg(UInt(5.W))
  private val bytes = Reg(UInt(256.W))

  /** The current multiplication of the state, and whether it is in progress. */
  private val step = RegInit(0.U(2.W))
  private val asked = RegInit(false.B)
  private val multiplier = Module(new Xxh64Multiplier)
  private val product = multiplier.output.bits
  private val answered = multiplier.output.valid
  multiplier.input.valid := false.B
  multiplier.input.bits.value := hash
  multiplier.input.bits.prime := 1.U

  private def multiply(value: UInt, prime: Int): Unit = when(!asked) {
    multiplier.input.valid := true.B
    multiplier.input.bits.value := value
    multiplier.input.bits.prime := prime.U
    asked := true.B
  }

  /** The next multiplication of the state, or the next state. */
  private def next(number: Int): Unit = {
    step := number.U
    asked := false.B
  }
  private def go(to: State.Type): Unit = {
    state := to
    next(0)
  }
  private def afterPart(): Unit = go(State.choose)
  private val scratch = Reg(UInt(Xxh64.width.W))

  /** `Round` of the specification with an accumulator of 0 on `input`, joined to the hash, followed by its `rotation`.
    */
  private def round(input: UInt, rotation: Int)(end: => Unit): Unit = {
    when(step === 0.U) {
      multiply(input, 2)
      when(answered) {
        scratch := Xxh64.rotate(product, 31)
        next(1)
      }
    }
    when(step === 1.U) {
      multiply(scratch, 1)
      when(answered) {
        val joined = hash ^ product
        hash := (if (rotation == 0) joined else Xxh64.rotate(joined, rotation))
        next(2)
      }
    }
    when(step === 2.U) {
      multiply(hash, 1)
      when(answered) {
        hash := product + Xxh64.prime(4)
        end
      }
    }
  }

  done := false.B
  value := hash
  switch(state) {
    is(State.idle) {
      when(start) {
        bytes := rest
        left := length(4, 0)
        lane := 0.U
        val long = (length >> 5).orR
        hash := Xxh64.prime(5)
        go(Mux(long, State.join, State.length))
      }
    }
    is(State.join) {
      val (s, c) = Xxh64.carrySave(lanes.zip(Seq(1, 7, 12, 18)).map { case (value, by) => Xxh64.rotate(value, by) })
      hash := s + c
      go(State.merge)
    }
    is(State.merge) {
      round(lanes(lane), 0) {
        lane := lane + 1.U
        go(Mux(lane === 3.U, State.length, State.merge))
      }
    }
    is(State.length) {
      hash := hash + length
      go(State.choose)
    }
    is(State.choose) {
      go(Mux(left >= 8.U, State.eight, Mux(left >= 4.U, State.four, Mux(left =/= 0.U, State.one, State.mix))))
    }
    is(State.eight) {
      round(bytes(63, 0), 27) {
        bytes := bytes >> 64
        left := left - 8.U
        afterPart()
      }
    }
    is(State.four) { part(bytes(31, 0), 1, 23, 2, Some(3), 4) }
    is(State.one) { part(bytes(7, 0), 5, 11, 1, None, 1) }
    is(State.mix) {
      when(step === 0.U) {
        multiply(hash ^ (hash >> 33), 2)
        when(answered) {
          hash := product
          next(1)
        }
      }
      when(step === 1.U) {
        multiply(hash ^ (hash >> 29), 3)
        when(answered) {
          hash := product ^ (product >> 32)
          go(State.ended)
        }
      }
    }
    is(State.ended) {
      done := true.B
      go(State.idle)
    }
  }

  /** Four bytes or one: times a prime, joined, turned, times another prime, and a third added. */
  private def part(input: UInt, first: Int, rotation: Int, second: Int, added: Option[Int], count: Int): Unit = {
    when(step === 0.U) {
      multiply(input, first)
      when(answered) {
        hash := Xxh64.rotate(hash ^ product, rotation)
        next(1)
      }
    }
    when(step === 1.U) {
      multiply(hash, second)
      when(answered) {
        hash := added.map(n => product + Xxh64.prime(n)).getOrElse(product)
        bytes := bytes >> (8 * count)
        left := left - count.U
        afterPart()
      }
    }
  }
}

/** The states of a [[Xxh64Ending]]. */
object Xxh64Ending {

  /** As in the specification, steps 3 to 6; `ended` shows the hash. */
  object State extends ChiselEnum {
    val idle, join, merge, length, choose, eight, four, one, mix, ended = Value
  }
}
