package rackwright.ordered

import chisel3._
import chisel3.util._

/** A node as it is in memory: keys in order, then 32-bit words.
  *
  * A node above the leaves has one child more than keys; in a leaf, each key has a value, and the last word is the
  * number of the next leaf. A key that is not used is all ones.
  */
class Node extends Bundle {
  val bits = UInt((8 * Node.bytes).W)

  def key(i: Int): UInt = bits(64 * i + 63, 64 * i)
  def word(i: Int): UInt = bits(64 * Node.keys + 32 * i + 31, 64 * Node.keys + 32 * i)

  /** The number of the leaf with the keys behind these; 0: none. */
  def next: UInt = word(Node.keys)
}

/** Sizes of a node. */
object Node {
  val bytes: Int = 64
  val keys: Int = 5
  val numberBits: Int = 32

  /** The upper end of all keys, and what keys are that are not used. */
  def end: UInt = Fill(64, 1.U(1.W))
}

/** A query: all keys from `low` to `high`, both included. */
class Query extends Bundle {
  val low, high = UInt(64.W)
}

/** How many keys there are, the value of the first, and the sum of all values. */
class Answer extends Bundle {
  val count, first = UInt(32.W)
  val sum = UInt(64.W)
}

/** The answer with a status. */
class Ended extends Bundle {
  val answer = new Answer
  val status = UInt(rackwright.port.Status.width.W)
}

/** What is looked for in the cache next. */
object Step extends ChiselEnum {

  /** By range: a node of the first and of the second level of the pattern. By address: `near`, the node itself. */
  val near, wide = Value
}

/** The state of a query between two nodes. */
class Walk extends Bundle {

  /** All keys that are sought and not yet counted are from `key` to `high`. */
  val key, high = UInt(64.W)

  /** The keys of the node are from `low` to below `end`, if that is known. */
  val low, end = UInt(64.W)
  val known = Bool()
  val number = UInt(Node.numberBits.W)
  val level = UInt(4.W)
  val step = Step()

  /** The node is a leaf to which another leaf has led. */
  val follows = Bool()
  val leaves = UInt(Walk.leafBits.W)
  val answer = new Answer

  /** Begins at the root. */
  def fromRoot(tree: Tree): Unit = {
    low := 0.U
    end := Node.end
    known := true.B
    number := tree.root
    level := tree.height
  }
}

object Walk {

  /** Bits of the number of leaves of a query, so that a chain without an end is noticed. */
  val leafBits: Int = 16
}
