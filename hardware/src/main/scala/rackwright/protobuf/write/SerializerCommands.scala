package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.{Command, CommandList, CommandResponse, CommandSet, RecordField, Status, UnitCommand}
import rackwright.protobuf.table.{DescriptorTable, ProtobufRecord}

/** A message to serialize. */
class SerializerRequest extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val message = UInt(DescriptorTable.addressBits.W)

  /** Ends with `access_fault` without being executed. */
  val refused = Bool()

  /** Its arrival time, counted in requests: copies of the message that were read earlier are stale. */
  val time = UInt(SerializerCache.timeBits.W)
}

/** Conversion between times, which count requests from 1, and request numbers, which count from 0. */
object SerializerRequest {
  def number(time: UInt): UInt = (time - 1.U)(SerializerEncoder.requestBits - 1, 0)
}

/** Decodes commands: README.md lists them. */
class SerializerCommands extends Module {
  import SerializerCommands._
  private val addressBits = DescriptorTable.addressBits

  /** Commands of the core, and responses. */
  val request = IO(Flipped(Decoupled(new Command)))
  val response = IO(Decoupled(new CommandResponse))

  /** A request and its ticket, accepted together. */
  val walk = IO(Decoupled(new SerializerRequest))
  val ticket = IO(Decoupled(new OutputTicket))

  /** A request has ended. */
  val ended = IO(Flipped(Valid(new OutputReport)))

  /** Number of requests so far, modulo 2^timeBits. */
  val now = IO(Output(UInt(SerializerCache.timeBits.W)))

  /** Invalidate cached descriptor tables. */
  val flush = IO(Output(Bool()))

  /** No request is in flight. */
  val quiet = IO(Output(Bool()))

  private val started = RegInit(0.U(64.W))
  private val completed = RegInit(0.U(64.W))
  private val worst = RegInit(Status.ok)
  private val head = RegInit(0.U(addressBits.W))
  private val tail = RegInit(0.U(64.W))
  private val limit = RegInit(0.U(64.W))
  private val entry = RegInit(0.U(64.W))
  private val record = RegInit(0.U(64.W))
  private val fresh = RegInit(false.B)

  private val bits = request.bits
  private def is(command: UnitCommand): Bool = bits.opcode === Serializer.opcode.U && bits.funct === command.funct.U
  quiet := started === completed
  now := started(SerializerCache.timeBits - 1, 0)

  // Descriptor tables are invalidated between requests, not within one.
  private val blocks = is(Functs.checkCompletion) || is(Functs.await) || is(Functs.fence)
  private val starts = is(Functs.start)
  private val accepted = Mux(starts, walk.ready && ticket.ready, !blocks || quiet)
  private val answerable = !bits.xd || response.ready
  request.ready := accepted && answerable
  response.valid := request.valid && accepted && bits.xd
  response.bits.rd := bits.rd
  private val mark = worst +& 1.U
  response.bits.data := MuxCase(
    Fill(64, 1.U(1.W)),
    Seq(
      is(Functs.checkCompletion) -> completed,
      is(Functs.status) -> Mux(worst === Status.ok, 0.U, mark),
      is(Functs.head) -> head,
      is(Functs.version) -> Functs.currentVersion.U,
      is(Functs.await) -> Mux(worst === Status.ok, head, mark)
    )
  )

  private def wide(address: UInt): Bool = (address >> addressBits).orR
  private def narrow(address: UInt): UInt = address(addressBits - 1, 0)
  private val start = request.valid && starts && answerable
  private val badRegion = wide(tail) || wide(limit) || limit > tail
  private val badRecord = wide(record) || record(4, 0).orR
  private val badEntry = wide(entry) || entry(2, 0).orR
  walk.valid := start && ticket.ready
  walk.bits.table := narrow(bits.rs1)
  walk.bits.time := now + 1.U
  walk.bits.message := narrow(bits.rs2)
  walk.bits.refused := badRegion || badRecord || badEntry || wide(bits.rs1) || wide(bits.rs2)
  ticket.valid := start && walk.ready
  ticket.bits.fresh := fresh
  ticket.bits.tail := narrow(tail)
  ticket.bits.limit := narrow(limit)
  ticket.bits.entry := Mux(badEntry, 0.U, narrow(entry))
  ticket.bits.record := Mux(badRecord, 0.U, narrow(record))
  flush := request.fire && is(Functs.fence)

  when(request.fire) {
    when(is(Functs.region)) {
      tail := bits.rs1
      entry := bits.rs2
      fresh := true.B
    }
    when(is(Functs.limit)) { limit := bits.rs1 }
    when(is(Functs.record)) { record := bits.rs1 }
    when(starts) {
      started := started + 1.U
      fresh := false.B
      record := 0.U
      when(entry =/= 0.U) { entry := entry + SerializerCommands.entryBytes.U }
    }
    when(is(Functs.status) || is(Functs.await)) { worst := Status.ok }
  }
  when(ended.valid) {
    completed := completed + 1.U
    head := ended.bits.head
    when(worst === Status.ok) { worst := ended.bits.status }
  }
}

/** The serializer's commands: 0 to 5 have the numbers of the published unit of this kind. */
object SerializerCommands {
  object Functs extends CommandList {
    val fence: UnitCommand = command("sfence", 0)
    val hasbits: UnitCommand = command("hasbits_info", 1)
    val start: UnitCommand = command("do_serialize", 2, "descriptor table", "object")
    val region: UnitCommand =
      command("mem_setup", 3, "end of the output region", "array of entries for outputs, or 0")
    val checkCompletion: UnitCommand =
      command("check_completion", 4, answer = "requests completed since reset, when all that were started have")
    val limit: UnitCommand = command("limit", 5, "start of the output region")
    val record: UnitCommand = command("completion", 7, "address of the next start's record, or 0")
    val status: UnitCommand = command("status", 16, answer = ProtobufRecord.failure)
    val head: UnitCommand = command("head", 17, answer = "address of the last output")
    val version: UnitCommand = command("version", 20, answer = "2")
    val await: UnitCommand =
      command("wait", 21, answer = "when all have completed: what STATUS answers if that is not 0, or HEAD")

    /** What `version` returns. */
    val currentVersion: Int = 2
  }

  /** All commands, and how a request ends. */
  val set: CommandSet = CommandSet(
    Functs.commands,
    Seq(
      ProtobufRecord.ended,
      RecordField("output", 64, 64, "its address"),
      RecordField("output_bytes", 128, 64, "its length")
    )
  )

  /** Distance between entries in the array of outputs, in bytes. */
  val entryBytes: Int = 16
}
