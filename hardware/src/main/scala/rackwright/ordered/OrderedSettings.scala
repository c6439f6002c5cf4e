package rackwright.ordered

import chisel3._

import rackwright.operation.{Operation, Setting}

/** The settings of the unit; see README.md. */
object OrderedSettings {
  val nodes: Setting = Setting("nodes", 4, 64, 0, "where node 0 is: a multiple of 64")
  val root: Setting =
    Setting("root", 5, 36, 0, "the number of the root in bits 31 to 0, the levels below it in bits 35 to 32")
  val limit: Setting = Setting("node_limit", 6, 32, 0, "every node has a number below this one")
  val near: Setting = Setting("near", 7, 10, 0, Pattern.meaning("first"))
  val wide: Setting = Setting("wide", 8, 10, 0x3cf, Pattern.meaning("second"))
  val version: Setting =
    Setting("tree_version", 9, 32, 0, "the cache is emptied when it is another than that of the start before")

  val all: Seq[Setting] = Seq(nodes, root, limit, near, wide, version)

  /** The tree that an operation names. */
  def tree(operation: Operation): Tree = {
    val found = Wire(new Tree)
    found.nodes := operation.setting(nodes.name)
    found.root := operation.setting(root.name)(31, 0)
    found.height := operation.setting(root.name)(35, 32)
    found.limit := operation.setting(limit.name)
    for ((pattern, setting) <- Seq(found.near -> near, found.wide -> wide)) {
      pattern.level := operation.setting(setting.name)(3, 0)
      pattern.shift := operation.setting(setting.name)(9, 4)
    }
    found
  }
}

/** Which nodes the cache takes, and what decides on their set. */
class Pattern extends Bundle {

  /** Nodes of this level, 0 that of leaves. */
  val level = UInt(4.W)

  /** The logarithm of the keys of a block; consecutive blocks are in consecutive sets. */
  val shift = UInt(6.W)
}

object Pattern {

  /** No node has this level. */
  val none: UInt = 15.U(4.W)

  /** The meaning of the setting with it. */
  def meaning(which: String): String =
    s"of the nodes that are looked for in the cache $which: their level in bits 3 to 0 (leaves have 0; 15: none), " +
      "the logarithm of the keys of a block in bits 9 to 4"
}

/** Where the nodes are. */
class Tree extends Bundle {
  val nodes = UInt(64.W)
  val root = UInt(Node.numberBits.W)

  /** The level of the root. */
  val height = UInt(4.W)
  val limit = UInt(Node.numberBits.W)
  val near, wide = new Pattern

  /** Whether there is a node with that number. */
  def has(number: UInt): Bool = number =/= 0.U && number < limit
}
