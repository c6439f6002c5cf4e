package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import rackwright.stream.{ByteStream, HeadQueue, SkidBuffer}

import EncoderParams._

/** What happens inside an encoder, for counting. */
class EncoderEvents extends Bundle {

  /** Positions whose bytes were found in the hash table. */
  val hashHit = UInt(4.W)

  /** Positions that were not looked up because another one used their bank. */
  val hashLost = UInt(4.W)

  /** Bytes covered by the match of a sequence that leaves. */
  val matchBytes = UInt(matchBits.W)

  /** Bytes that leave as literals. */
  val literalBytes = UInt(4.W)

  /** The search waits for input. */
  val inputStall = Bool()

  /** The choice waits for room in the queues behind it. */
  val outputStall = Bool()
}

/** LZ77 encoder: input bytes to sequences of copies and literals, eight positions per cycle.
  *
  * The boxes in order: window, hash table, candidates, probe (with the history), refine, select, literals. The result
  * depends on the input and the job only, never on what ran before or on when the input arrives.
  *
  * @param params
  *   sizes.
  * @param streamBytes
  *   width of the input stream in bytes.
  * @param literalReadBytes
  *   literals offered per cycle: 8 or 16.
  */
class Encoder(params: EncoderParams, streamBytes: Int, literalReadBytes: Int) extends Module {

  /** Begins an operation; the next one needs `clear` in between. */
  val job = IO(Flipped(Decoupled(new EncoderJob(params.dictionary))))
  val stream = IO(Flipped(new ByteStream(streamBytes)))
  val sequence = IO(Decoupled(new Sequence(params)))

  /** The next literals, first byte lowest; those of a sequence are there when the sequence is. */
  val literals = IO(Output(UInt((8 * literalReadBytes).W)))
  val consume = IO(Input(UInt(log2Ceil(literalReadBytes + 1).W)))

  /** Ends the operation, finished or not. */
  val clear = IO(Input(Bool()))

  /** The input could not be read; the operation does not go on. */
  val fault = IO(Output(Bool()))

  /** The hash table is being cleared. */
  val busy = IO(Output(Bool()))
  val events = IO(Output(new EncoderEvents))

  /** Groups between the window and the choice: as many as the stages take to do their work without a pause. */
  private val groupsInFlight = 16

  /** Capacity for sequences that are found while a long run of literals is emitted, including those in flight. */
  private val sequencesWaiting = 32
  private val sequencesUnderWay = 8

  private val table = Module(new HashTable(params))
  private val settings = RegEnable(job.bits, job.fire)
  busy := table.busy
  job.ready := !table.busy
  table.start := job.fire

  withReset(reset.asBool || clear) {
    val window = Module(new EncoderWindow(params, streamBytes))
    val candidates = Module(new EncoderCandidates(params))
    val history = Module(new EncoderHistory(params))
    val probe = Module(new MatchProbe(params))
    val refine = Module(new MatchRefine)
    val select = Module(new MatchSelect(params))
    val buffer = Module(new EncoderLiterals(params, literalReadBytes))
    val lookup = Module(new HashTableRequest(params))
    val foundGroups = Module(new HeadQueue(new FoundGroup, groupsInFlight))

    window.start.valid := job.fire
    window.start.bits := job.bits.length
    window.stream <> stream
    history.write := window.history
    fault := window.fault

    // Nothing between the window and the queue of groups found can wait: a group leaves only if it has a place there.
    val inFlight = RegInit(0.U(log2Ceil(groupsInFlight + 1).W))
    val place = inFlight < groupsInFlight.U
    lookup.unused := params.hashLog2.U - settings.hashLog2
    lookup.group.valid := window.group.valid && place
    lookup.group.bits := window.group.bits
    window.group.ready := lookup.group.ready && place
    inFlight := inFlight + window.group.fire - foundGroups.out.fire

    table.lookup <> lookup.lookup
    candidates.found := table.found.bits
    candidates.reach := Mux(settings.maxOffset < params.maxDistance.U, settings.maxOffset, params.maxDistance.U)
    val probed = candidateStage(table.found.valid, candidates.candidates)
    probe.candidates <> probed
    foundGroups.in.valid := probe.found.valid
    foundGroups.in.bits := probe.found.bits
    history.read := probe.read
    probe.history := history.bytes
    refine.found <> foundGroups.out
    select.choices <> withoutDictionary(SkidBuffer(refine.choices))
    select.start.valid := job.fire
    select.start.bits := job.bits.length === 0.U
    buffer.write := select.literals

    // A sequence needs two cycles to leave: after them its literals can be read.
    val sequences = Module(new Queue(new Sequence(params), sequencesWaiting))
    sequences.io.enq.valid := select.sequence.valid
    sequences.io.enq.bits := select.sequence.bits
    assert(!select.sequence.valid || sequences.io.enq.ready, "a sequence has no place")
    select.room := RegNext(sequences.io.count <= (sequencesWaiting - sequencesUnderWay).U, false.B) && buffer.room
    sequence <> Queue(sequences.io.deq, 2)
    literals := buffer.data
    buffer.consume := consume

    events.hashHit := Mux(probed.fire, probed.bits.hits, 0.U)
    events.hashLost := table.lost
    events.matchBytes := Mux(select.sequence.valid, select.sequence.bits.matchLength, 0.U)
    events.literalBytes := Mux(buffer.write.valid, buffer.write.bits.count, 0.U)
    events.inputStall := window.waiting
    events.outputStall := select.waiting
  }

  private def withoutDictionary(groups: DecoupledIO[ChoiceGroup]): DecoupledIO[ChoiceGroup] =
    job.bits.before.fold(groups)(withoutFirst(_, groups))

  /** All groups of a job but the first `count`. */
  private def withoutFirst(count: UInt, groups: DecoupledIO[ChoiceGroup]): DecoupledIO[ChoiceGroup] = {
    val left = Reg(UInt(beforeBits.W))
    val passing = RegInit(false.B)
    val rest = Wire(Decoupled(new ChoiceGroup))
    rest.valid := groups.valid && !passing
    rest.bits := groups.bits
    groups.ready := rest.ready || passing
    when(passing && groups.valid) {
      left := left - 1.U
      passing := left =/= 1.U
    }
    when(job.fire) {
      left := count
      passing := count =/= 0.U
    }
    rest
  }

  /** Between candidates and probe: a register where a group is probed once, else a queue for those that have to wait.
    */
  private def candidateStage(valid: Bool, candidates: CandidateGroup): DecoupledIO[CandidateGroup] = {
    val stage = Wire(Decoupled(new CandidateGroup))
    if (params.keyed) {
      stage.valid := RegNext(valid, false.B)
      stage.bits := RegEnable(candidates, valid)
    } else {
      val queue = Module(new Queue(new CandidateGroup, groupsInFlight))
      queue.io.enq.valid := valid
      queue.io.enq.bits := candidates
      stage <> queue.io.deq
    }
    stage
  }
}
