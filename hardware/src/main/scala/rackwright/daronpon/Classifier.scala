package rackwright.daronpon

import chisel3._
import chisel3.util._

/** A completely received frame: its first eight flits, and what was checked while it arrived. */
class WholeFrame extends Bundle {
  val header = Vec(8, UInt(64.W))
  val bytes = UInt(16.W)
  val time = UInt(Sizes.timeBits.W)
  val giant = Bool()
  val hasReport = Bool()
}

/** The result of the first stage: the fields of a frame, and the table entries that match. */
class MatchedFrame(params: Params) extends Bundle {
  val arrival = new Arrival(params)
  val empty = Bool()
  val isMessage = Bool()
  val rightLength = Bool()
  val giant = Bool()
  val version = UInt(8.W)
  val destinations = UInt(params.replicas.W)
  val sources = UInt(params.replicas.W)
  val services = UInt(params.services.W)
}

/** Classifies a frame in two stages: matches it against the tables, then derives its class from the matches. */
class Classifier(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new WholeFrame)))

  /** The report of the frame, if it has one, is complete and valid. */
  val whole = IO(Input(Bool()))
  val authentic = IO(Input(Bool()))
  val origin = IO(Input(UInt(48.W)))
  val replicas = IO(Input(Vec(params.replicas, new ReplicaEntry(params))))
  val services = IO(Input(Vec(params.services, new ServiceEntry)))
  val out = IO(Decoupled(new Arrival(params)))
  val idle = IO(Output(Bool()))

  private val matched = Module(new Queue(new MatchedFrame(params), 1, pipe = true))
  private val arrivals = Module(new Queue(new Arrival(params), 2))
  in.ready := matched.io.enq.ready
  matched.io.enq.valid := in.valid
  matched.io.enq.bits := stage(in.bits)
  arrivals.io.enq.valid := matched.io.deq.valid
  matched.io.deq.ready := arrivals.io.enq.ready
  arrivals.io.enq.bits := judge(matched.io.deq.bits)
  out <> arrivals.io.deq
  idle := !matched.io.deq.valid && !arrivals.io.deq.valid

  private def stage(frame: WholeFrame): MatchedFrame = {
    val stage = Wire(new MatchedFrame(params))
    val header = frame.header
    val arrival = stage.arrival
    val fields = arrival.fields
    val kind = header(5)(47, 40)
    val destination = BigEndian.number(header(0), 0, 5)
    val source = Cat(BigEndian.number(header(0), 6, 7), BigEndian.number(header(1), 0, 3))
    val serviceNumber = BigEndian.number(header(5), 6, 7)
    fields.total := BigEndian.number(header(2), 0, 1)
    fields.internetSum := BigEndian.number(header(3), 0, 1)
    fields.address := Cat(BigEndian.number(header(3), 6, 7), BigEndian.number(header(4), 0, 1))
    fields.port := BigEndian.number(header(4), 4, 5)
    fields.udpLength := BigEndian.number(header(4), 6, 7)
    fields.udpSum := BigEndian.number(header(5), 0, 1)
    fields.kind := kind
    arrival.concern := Concern.pass
    arrival.told := frame.hasReport
    arrival.time := frame.time
    arrival.service := 0.U
    arrival.serviceKnown := false.B
    arrival.source := 0.U
    val client = Cat(BigEndian.number(header(3), 2, 5), BigEndian.number(header(4), 2, 3))
    arrival.client := Mux(kind === Kind.response.U, Cat(fields.address, fields.port), client)
    arrival.serviceNumber := serviceNumber
    arrival.argument := BigEndian.number(header(6), 0, 1)
    arrival.number := Cat(BigEndian.number(header(6), 2, 7), BigEndian.number(header(7), 0, 1))
    stage.empty := frame.bytes === 0.U
    stage.giant := frame.giant
    stage.version := header(5)(39, 32)
    stage.isMessage := frame.bytes >= (Sizes.headersBytes + 2).U && Classifier.isDatagram(header) &&
      header(5)(31, 16) === Classifier.magic
    stage.rightLength := fields.total >= (Sizes.headersBytes - 14 + Sizes.messageBytes).U &&
      fields.udpLength +& 20.U === fields.total && fields.total +& 14.U <= frame.bytes
    def isHere(mac: UInt) = VecInit(replicas.map(entry => entry.present && entry.place.mac === mac)).asUInt
    stage.destinations := isHere(destination)
    stage.sources := isHere(source)
    stage.services := VecInit(services.map(entry => entry.present && entry.number === serviceNumber)).asUInt
    stage
  }

  private def judge(frame: MatchedFrame): Arrival = {
    val arrival = Wire(new Arrival(params))
    val below = frame.destinations.orR
    val kind = frame.arrival.fields.kind
    val isOne = frame.version === 1.U
    val answers = frame.sources.orR && isOne && frame.rightLength
    val isReport = kind === Kind.redirected.U || kind === Kind.gossip.U
    val malformed = !isOne || kind >= Kind.count.U || !frame.rightLength || (isReport && !(frame.arrival.told && whole))
    val forged = !authentic || (kind === Kind.redirected.U && origin =/= frame.arrival.client)
    val toward = MuxCase(
      Concern.pass,
      Seq(
        malformed -> Concern.malformed,
        (isReport && forged) -> Concern.forged,
        (kind === Kind.request.U) -> Concern.request,
        (kind === Kind.redirected.U) -> Concern.redirected,
        (kind === Kind.gossip.U) -> Concern.gossip
      )
    )
    arrival := frame.arrival
    arrival.service := OHToUInt(frame.services)
    arrival.serviceKnown := frame.services.orR
    arrival.source := OHToUInt(frame.sources)
    arrival.concern := MuxCase(
      Concern.pass,
      Seq(
        frame.giant -> Concern.malformed,
        frame.empty -> Concern.tick,
        !frame.isMessage -> Concern.pass,
        (answers && kind === Kind.response.U) -> Concern.response,
        (answers && kind === Kind.alive.U) -> Concern.alive,
        below -> toward
      )
    )
    arrival
  }
}

/** The format of datagrams. */
object Classifier {

  /** The first bytes of a message, 0x5244, in the byte order of a flit. */
  val magic: UInt = "h4452".U(16.W)

  /** Whether flits 1 and 2 are the headers of an unfragmented UDP datagram over IPv4 without options: types, header
    * lengths, fragment fields.
    */
  def isDatagram(header: Vec[UInt]): Bool = {
    val fragment = BigEndian.number(header(2), 4, 5)
    BigEndian.number(header(1), 4, 5) === 0x0800.U && header(1)(55, 48) === 0x45.U &&
    (fragment & 0x3fff.U) === 0.U && header(2)(63, 56) === 17.U
  }
}
