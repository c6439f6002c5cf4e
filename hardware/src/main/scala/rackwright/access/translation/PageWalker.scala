package rackwright.access.translation

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Paging, TranslationContext}

/** Walks page tables for several ports, one walk at a time; README.md is the contract.
  *
  * The table of the last level that was used last is remembered: walks along a range read one entry.
  */
class PageWalker(ports: Int) extends Module {
  import PageWalker.State

  /** Numbers of virtual pages; taken when the walk begins. */
  val request = IO(Vec(ports, Flipped(Decoupled(UInt(Paging.virtualPageBits.W)))))

  /** The result of the walk of that port. */
  val result = IO(Vec(ports, Valid(new WalkResult)))

  /** Changes only while `idle`. */
  val context = IO(Input(new TranslationContext))

  /** Page tables have changed: drops cached entries and restarts a walk. */
  val forget = IO(Input(Bool()))

  /** Reads of entries. */
  val memory = IO(new MemoryPort(PageWalker.port))
  val idle = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val page = Reg(UInt(Paging.virtualPageBits.W))
  private val owner = Reg(UInt(log2Ceil(ports.max(2)).W))
  private val level = Reg(UInt(Paging.levelBits.W))
  private val table = Reg(UInt(Paging.physicalPageBits.W))
  private val stale = Reg(Bool())
  private val outcome = Reg(new WalkResult)
  private val lastTable = Reg(UInt(Paging.physicalPageBits.W))
  private val lastRegion = Reg(UInt((Paging.virtualPageBits - Paging.indexBits).W))
  private val lastKnown = RegInit(false.B)
  private def region: UInt = page >> Paging.indexBits

  private val arbiter = Module(new RRArbiter(UInt(Paging.virtualPageBits.W), ports))
  arbiter.io.in.zip(request).foreach { case (in, port) => in <> port }
  arbiter.io.out.ready := state === State.idle
  when(arbiter.io.out.fire) {
    page := arbiter.io.out.bits
    owner := arbiter.io.chosen
    state := State.begin
  }

  when(state === State.begin) {
    val remembered = lastKnown && lastRegion === region && !forget
    val top = Mux(context.mode === Paging.sv48.U, 3.U, 2.U)
    level := Mux(remembered, 0.U, top)
    table := Mux(remembered, lastTable, context.root)
    stale := false.B
    state := State.ask
  }

  private val indices = VecInit(Seq.tabulate(Paging.levels)(l => page(l * Paging.indexBits + 8, l * Paging.indexBits)))
  private val place = Cat(table, indices(level), 0.U(log2Ceil(Paging.entryBytes).W))
  memory.request.valid := state === State.ask
  memory.request.bits.read(Cat(place >> 4, 0.U(4.W)).pad(64), 0.U)
  memory.response.ready := true.B
  when(memory.request.fire) { state := State.await }
  when(forget && state =/= State.idle) { stale := true.B }

  private val half = log2Ceil(Paging.entryBytes)
  private val entry =
    Mux(place(half), memory.response.bits.data >> 64, memory.response.bits.data)(63, 0).asTypeOf(new PageTableEntry)
  private val answered = state === State.await && memory.response.valid
  private val leaf = entry.leaf(page, level)
  private val pointer = entry.wellFormed && entry.pointer && level =/= 0.U
  when(answered) {
    when(stale || forget) {
      state := State.begin
    }.elsewhen(pointer && !memory.response.bits.fault) {
      table := entry.physical
      level := level - 1.U
      state := State.ask
      when(level === 1.U) {
        lastKnown := true.B
        lastRegion := region
        lastTable := entry.physical
      }
    }.otherwise {
      outcome.refused := memory.response.bits.fault
      outcome.found := !memory.response.bits.fault && entry.wellFormed && entry.usable(level)
      outcome.translation := leaf
      state := State.report
    }
  }
  when(state === State.report) { state := Mux(stale || forget, State.begin, State.idle) }
  when(forget) { lastKnown := false.B }

  for ((port, index) <- result.zipWithIndex) {
    port.valid := state === State.report && !stale && !forget && owner === index.U
    port.bits := outcome
  }
  idle := state === State.idle && !request.map(_.valid).reduce(_ || _)

  assert(!memory.response.valid || state === State.await, "an answer to a walk that asked nothing")
}

object PageWalker {

  /** The port through which tables are read: one read at a time. */
  val port: MemoryPortParams = MemoryPortParams(Paging.beatBytes, tagBits = 1)

  object State extends ChiselEnum {
    val idle, begin, ask, await, report = Value
  }
}

/** An entry of a page table, with its least significant bit last. */
class PageTableEntry extends Bundle {

  /** Reserved, or for extensions that are not supported. */
  val reserved = UInt(10.W)
  val physical = UInt(Paging.physicalPageBits.W)

  /** For software, and "global". */
  val software = UInt(2.W)
  val dirty = Bool()
  val accessed = Bool()
  val global = Bool()
  val user = Bool()
  val executable = Bool()
  val writable = Bool()
  val readable = Bool()
  val valid = Bool()

  def pointer: Bool = !readable && !executable
  def wellFormed: Bool =
    valid && reserved === 0.U && (readable || !writable) && !(pointer && (accessed || dirty || user))

  /** Whether it leads to a page, of `level`, that has been marked as used. */
  def usable(level: UInt): Bool = {
    val aligned =
      VecInit(Seq.tabulate(Paging.levels)(l => if (l == 0) true.B else physical(l * Paging.indexBits - 1, 0) === 0.U))
    !pointer && accessed && aligned(level)
  }

  /** As the leaf of the virtual page `page`. */
  def leaf(page: UInt, level: UInt): Translation = {
    val made = Wire(new Translation)
    made.page := page
    made.level := level
    made.physical := physical
    made.readable := readable
    made.writable := writable && dirty
    made.executable := executable
    made.user := user
    made
  }
}
