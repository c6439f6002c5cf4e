package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.network.Frame
import rackwright.port.CommandSet
import rackwright.unit.{Attach, HardwareUnit}

/** Brings remote pages without software, after the page-fault accelerator of Karandikar 2024, section 2.6. README.md is
  * the contract.
  */
class PageFault(params: Params) extends HardwareUnit {
  override def hertz: Long = Frame.hertzFor(Sizes.flitBytes)
  override def attach: Seq[Attach] = Seq(Attach.Walk)

  val command = commandPort(CommandSet(PageFaultCommands.Functs.commands), PageFaultCommands.opcode)
  val interrupt = interruptPort("frames")
  val walk = memoryPort(params.entries)
  val read = memoryPort(params.pages)
  val write = memoryPort(params.pages)
  val record = memoryPort(params.records)
  val networkOut = streamOutput(Sizes.flitBytes).suggestName("network_out")
  val networkIn = streamInput(Sizes.flitBytes).suggestName("network_in")
  val idle = idlePort()

  private val slots = params.faults.max(params.evictions)
  private val commands = Module(new PageFaultCommands(params))
  private val faults = Module(new FaultSlots(params))
  private val evictions = Module(new EvictionSlots(params))
  private val sender = Module(new MessageSender(params, slots))
  private val receiver = Module(new MessageReceiver(params))
  private val records = Module(new RecordWriter(params))

  commands.command <> command
  interrupt := records.interrupt
  faults.request <> commands.walk
  commands.walked <> faults.result
  faults.freeFrame <> commands.freeFrame
  records.newPage <> faults.newPage
  faults.recorded := records.recorded
  commands.newPages := records.newPages
  commands.fetching := faults.fetching
  records.ring := commands.ring
  records.taken := commands.taken
  record <> records.memory
  evictions.request <> commands.evict
  faults.tick := commands.tick
  evictions.tick := commands.tick
  walk <> faults.walk

  // An awaited page has priority over evicted pages.
  private val returned = Module(new Arbiter(new ReturnedFrame, 2))
  returned.io.in(0) <> faults.returned
  returned.io.in(1) <> evictions.returned
  records.returned <> returned.io.out
  private val requests = Module(new Arbiter(new Outgoing(slots), 2))
  requests.io.in(0) <> faults.ask
  requests.io.in(1) <> evictions.ask
  sender.request <> Queue(requests.io.out, 1)
  sender.addresses := commands.addresses
  read <> sender.memory
  networkOut <> sender.network

  receiver.network <> networkIn
  write <> receiver.memory
  faults.lookup := receiver.lookup
  evictions.lookup := receiver.lookup
  receiver.expectedFetch := faults.expected
  receiver.expectedStore := evictions.expected
  receiver.frame := faults.frame
  private def of(signal: Valid[UInt], to: Valid[UInt]): Unit = {
    to.valid := signal.valid
    to.bits := signal.bits(to.bits.getWidth - 1, 0)
  }
  of(receiver.claimed, faults.claimed)
  of(receiver.abandoned, faults.abandoned)
  of(receiver.arrived, faults.arrived)
  faults.faulted := receiver.faulted
  private val answer = receiver.answered
  faults.refused.valid := answer.valid && !answer.bits.store
  faults.refused.bits := answer.bits
  evictions.answered.valid := answer.valid && answer.bits.store
  evictions.answered.bits := answer.bits

  idle := commands.idle && faults.idle && evictions.idle && sender.idle && receiver.idle && records.idle &&
    !requests.io.out.valid

  event("fetched_pages", faults.newPage.fire)
  event("stored_pages", evictions.answered.valid && answer.bits.done)
  event("retries", faults.retried +& evictions.retried)
  event("damaged_messages", receiver.dropped)
  event("refused_walks", commands.walked.fire && commands.walked.bits =/= Cause.served)
}
