package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.port.{CommandList, CommandPort, CommandSet, RecordField, Status, UnitCommand}
import rackwright.protobuf.table.{DescriptorTable, ProtobufRecord}
import rackwright.stream.StreamRange

/** A message to parse, with all settings at the time of its command. */
class DeserializerRequest extends Bundle {
  val message = new FieldsStart
  val arena = UInt(64.W)

  /** Address of the completion record, or 0. */
  val record = UInt(64.W)

  /** Regions that were set after the previous request. */
  val regions = Valid(new RegionBounds)
  val leftovers = Valid(new LeftoverBounds)

  /** `ok`, or the status with which the request ends without being executed. */
  val verdict = UInt(Status.width.W)

  /** The request has an input to read: it is valid and not empty. */
  val reads = Bool()
}

/** The values that status commands return. */
class DeserializerReport extends Bundle {

  /** Requests completed since reset. */
  val completed = UInt(64.W)

  /** 1 + status of the first request that failed since the last report, or 0. */
  val failure = UInt(64.W)
  val heads = new RegionHeads

  /** Address of the next leftover record. */
  val leftovers = UInt(DescriptorTable.addressBits.W)
}

/** Decodes commands, one per cycle. README.md lists them. */
class DeserializerCommands(opcode: Int) extends Module {
  import DeserializerCommands._

  val command = IO(new CommandPort)

  /** One for each DO_PARSE; and its input, unless it is empty or the request is invalid. */
  val request = IO(Decoupled(new DeserializerRequest))
  val range = IO(Decoupled(new StreamRange))

  val report = IO(Input(new DeserializerReport))

  /** The failure has been returned. */
  val reported = IO(Output(Bool()))

  /** Invalidates cached descriptors; no request is in flight. */
  val flush = IO(Output(Bool()))

  /** Every request has completed. */
  val quiet = IO(Output(Bool()))

  private val bits = command.request.bits
  private val mine = bits.opcode === opcode.U
  private def is(commands: UnitCommand*): Bool = mine && commands.map(bits.funct === _.funct.U).reduce(_ || _)

  private val started = RegInit(0.U(64.W))
  private val table = RegInit(0.U(64.W))
  private val target = RegInit(0.U(64.W))
  private val arena = RegInit(0.U(64.W))
  private val record = RegInit(0.U(64.W))
  private val bounds = RegInit(0.U.asTypeOf(new RegionBounds))
  private val boundsGiven = RegInit(false.B)
  private val boundsWide = RegInit(0.U(2.W))
  private val leftovers = RegInit(0.U.asTypeOf(new LeftoverBounds))
  private val leftoversGiven = RegInit(false.B)
  private val leftoversWrong = RegInit(false.B)

  // The heads of regions that no request has used are their bounds.
  private val heads = Mux(boundsGiven, RegionHeads.of(bounds), report.heads)
  quiet := started === report.completed
  // Whether a request has an input is known late: a command waits for room for one in any case.
  private val starts = is(Funct.start)
  private val reads = request.bits.reads
  private val accepted = MuxCase(
    true.B,
    Seq(
      starts -> (request.ready && range.ready),
      is(Funct.fence, Funct.checkCompletion, Funct.waitForAll) -> quiet
    )
  )
  private val answers = command.response.ready || !bits.xd
  command.request.ready := accepted && answers
  command.response.valid := command.request.valid && accepted && bits.xd
  command.response.bits.rd := bits.rd
  command.response.bits.data := MuxCase(
    Fill(64, 1.U(1.W)),
    Seq(
      is(Funct.checkCompletion) -> report.completed,
      is(Funct.status, Funct.waitForAll) -> report.failure,
      is(Funct.objects) -> heads.objects,
      is(Funct.strings) -> heads.strings,
      is(Funct.arrays) -> heads.arrays,
      is(Funct.texts) -> heads.texts,
      is(Funct.longStrings) -> heads.longStrings,
      is(Funct.leftoverHead) -> Mux(leftoversGiven, leftovers.start, report.leftovers),
      is(Funct.version) -> currentVersion.U
    )
  )
  reported := command.request.fire && is(Funct.status, Funct.waitForAll)
  flush := command.request.fire && is(Funct.fence)

  private val length = bits.rs2(31, 0)
  request.valid := command.request.valid && starts && answers && range.ready
  range.valid := command.request.valid && starts && answers && reads && request.ready
  range.bits.address := bits.rs1
  range.bits.length := length

  private val recordMisaligned = record(4, 0).orR
  private val wrong = isWide(table) || isWide(target) || table(3, 0).orR || target(2, 0).orR || recordMisaligned ||
    boundsWide.orR || leftoversWrong || Ranges.wraps(bits.rs1, length)
  request.bits.message.table := table
  request.bits.message.target := target
  request.bits.message.source := bits.rs1
  request.bits.message.length := length
  request.bits.arena := arena
  request.bits.record := Mux(recordMisaligned, 0.U, record)
  request.bits.regions.valid := boundsGiven
  request.bits.regions.bits := bounds
  request.bits.leftovers.valid := leftoversGiven
  request.bits.leftovers.bits := leftovers
  request.bits.verdict := Mux(wrong, Status.accessFault, Mux(length(31), Status.unsupported, Status.ok))
  request.bits.reads := !wrong && !length(31) && length =/= 0.U

  private def isWide(address: UInt): Bool = (address >> DescriptorTable.addressBits).orR
  private def isNoBound(address: UInt): Bool = isWide(address) || address(3, 0).orR

  when(command.request.fire) {
    when(is(Funct.parseInfo)) {
      table := bits.rs1
      target := bits.rs2
    }
    when(is(Funct.regions)) {
      bounds.objects := bits.rs1
      bounds.arrays := bits.rs2
      boundsWide := Cat(boundsWide(1), isNoBound(bits.rs1) || isNoBound(bits.rs2))
      boundsGiven := true.B
    }
    when(is(Funct.limits)) {
      bounds.objectsEnd := bits.rs1
      bounds.arraysEnd := bits.rs2
      boundsWide := Cat(isNoBound(bits.rs1) || isNoBound(bits.rs2), boundsWide(0))
      boundsGiven := true.B
    }
    when(is(Funct.arena)) { arena := bits.rs1 }
    when(is(Funct.completion)) { record := bits.rs1 }
    when(is(Funct.leftovers)) {
      leftovers.start := bits.rs1
      leftovers.end := bits.rs2
      leftoversWrong := Seq(bits.rs1, bits.rs2).map(at => isWide(at) || at(4, 0).orR).reduce(_ || _)
      leftoversGiven := true.B
    }
    when(starts) {
      started := started + 1.U
      record := 0.U
      boundsGiven := false.B
      leftoversGiven := false.B
    }
  }
}

/** The deserializer's commands: 0 to 4 have the numbers of the published unit of this kind, the others are additions.
  */
object DeserializerCommands {
  val currentVersion: Int = 2

  object Funct extends CommandList {
    val fence: UnitCommand = command("sfence", 0)
    val parseInfo: UnitCommand = command("parse_info", 1, "descriptor table", "object")
    val start: UnitCommand = command("do_parse", 2, "input", "its bytes")
    val regions: UnitCommand =
      command("mem_setup", 3, "start of the region of objects", "start of that of arrays")
    val checkCompletion: UnitCommand =
      command("check_completion", 4, answer = "requests completed since reset, when all that were started have")
    val limits: UnitCommand = command("limits", 5, "end of the region of objects", "end of that of arrays")
    val arena: UnitCommand = command("arena", 6, "the arena that objects belong to")
    val completion: UnitCommand = command("completion", 7, "address of the next start's record, or 0")
    val leftovers: UnitCommand =
      command("leftovers", 8, "start of an array of records of what is left over", "its end")
    val status: UnitCommand = command("status", 16, answer = ProtobufRecord.failure)
    val objects: UnitCommand = command("objects", 17, answer = "where the next object lies")
    val strings: UnitCommand = command("strings", 18, answer = "where the last string object lies")
    val arrays: UnitCommand = command("arrays", 19, answer = "where the next array lies")
    val version: UnitCommand = command("version", 20, answer = "2")
    val waitForAll: UnitCommand = command("wait", 21, answer = "when all have completed: what STATUS answers")
    val longStrings: UnitCommand =
      command("long_strings", 22, answer = "strings whose characters lie in the region of arrays")
    val texts: UnitCommand = command("texts", 23, answer = "where the characters of the last of these lie")
    val leftoverHead: UnitCommand =
      command("leftover_head", 24, answer = "where the next record of what is left over goes")
  }

  /** All commands, and how a request ends. */
  val set: CommandSet = CommandSet(
    Funct.commands,
    Seq(ProtobufRecord.ended, RecordField("input_offset", 64, 64, "bytes read, or where the input is wrong"))
  )
}
