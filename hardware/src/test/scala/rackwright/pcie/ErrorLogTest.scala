package rackwright.pcie

import rackwright.BlockTest

/** Errors of all sources are recorded once each, and told as software says. */
class ErrorLogTest extends BlockTest {
  private val unsupported = 20
  private val poisoned = 12
  private val unexpected = 16
  private val timeOut = 14

  private def start(dut: ErrorLog): Unit = {
    Seq(dut.target.valid, dut.reader.valid, dut.timedOut, dut.access.valid).foreach(_.poke(false))
    dut.settings.id.poke(0x0300)
    dut.settings.reports.poke(0xf)
    dut.access.bits.enables.poke(0xf)
    dut.packet.ready.poke(false)
  }

  private def write(dut: ErrorLog, word: Int, data: Long): Unit = {
    dut.access.valid.poke(true)
    dut.access.bits.write.poke(true)
    dut.access.bits.register.poke(0x40 + word)
    dut.access.bits.data.poke(data)
    dut.clock.step()
    dut.access.valid.poke(false)
  }

  private def read(dut: ErrorLog, word: Int): BigInt = {
    dut.access.bits.register.poke(0x40 + word)
    dut.value.peek().litValue
  }

  private def give(error: PacketError, fault: Int, advisory: Boolean, word: Int): Unit = {
    error.fault.poke(fault)
    error.advisory.poke(advisory)
    error.header.words.foreach(_.poke(word))
  }

  /** The code of the message that is ready, which is then taken. */
  private def code(dut: ErrorLog): Int = {
    dut.packet.valid.expect(true)
    val beat = dut.packet.bits.data.peek().litValue
    assert((beat & 0xff) == 0x30 && ((beat >> 32) & 0xffff) == 0x0003, beat.toString(16))
    dut.packet.ready.poke(true)
    dut.clock.step()
    dut.packet.ready.poke(false)
    ((beat >> 56) & 0xff).toInt
  }

  test("errors of one cycle are all recorded, with the header of the first") {
    block(new ErrorLog) { dut =>
      start(dut)
      assert(read(dut, 0) == 0x20001 && read(dut, 3) == 0x60000 && read(dut, 5) == 0x2000)
      give(dut.target.bits, unsupported, advisory = false, 5)
      give(dut.reader.bits, poisoned, advisory = false, 7)
      Seq(dut.target.valid, dut.reader.valid, dut.timedOut).foreach(_.poke(true))
      dut.clock.step()
      Seq(dut.target.valid, dut.timedOut).foreach(_.poke(false))
      dut.target.ready.expect(false)
      dut.clock.step()
      dut.reader.valid.poke(false)
      dut.clock.step(5)
      assert(read(dut, 1) == ((1 << unsupported) | (1 << poisoned) | (1 << timeOut)))
      assert(read(dut, 6) == poisoned && read(dut, 7) == 7 && read(dut, 10) == 7)
      dut.status.expect(0xa)
      dut.target.ready.expect(true)
      // One of each of the four errors, and no more.
      assert(Seq.fill(4)(code(dut)) == Seq.fill(4)(0x31))
      dut.packet.valid.expect(false)
      dut.idle.expect(true)
    }
  }

  test("masks and severities are those of software, and ones clear a status") {
    block(new ErrorLog) { dut =>
      start(dut)
      def brings(fault: Int, advisory: Boolean, word: Int): Unit = {
        give(dut.reader.bits, fault, advisory, word)
        dut.reader.valid.poke(true)
        dut.clock.step()
        dut.reader.valid.poke(false)
        dut.clock.step(3)
      }
      brings(unexpected, advisory = true, 1)
      assert(read(dut, 1) == 0 && read(dut, 4) == 0x2000)
      dut.packet.valid.expect(false)
      write(dut, 4, 0xffffffffL)
      write(dut, 5, 0)
      brings(unexpected, advisory = true, 2)
      assert(read(dut, 4) == 0x2000 && read(dut, 1) == (1 << unexpected) && read(dut, 7) == 2)
      assert(code(dut) == 0x30)
      // Of bits that there are not, none is set.
      write(dut, 3, 0xffffffffL)
      assert(read(dut, 3) == 0x00175000)
      brings(unexpected, advisory = true, 3)
      assert(code(dut) == 0x33 && read(dut, 7) == 2)
      write(dut, 1, 0xffffffffL)
      write(dut, 2, 1 << unexpected)
      brings(unexpected, advisory = true, 4)
      assert(read(dut, 1) == (1 << unexpected) && read(dut, 7) == 2, "a masked error has no header")
      dut.packet.valid.expect(false)
      dut.status.expect(0x5)
      // The device status register is a half of another word.
      write(dut, 0x12 - 0x40, 0x000f0000L)
      dut.status.expect(0)
      dut.settings.reports.poke(0x7)
      give(dut.target.bits, unsupported, advisory = false, 5)
      dut.target.valid.poke(true)
      dut.clock.step()
      dut.target.valid.poke(false)
      dut.clock.step(3)
      dut.packet.valid.expect(false)
      dut.status.expect(0xc)
    }
  }
}
