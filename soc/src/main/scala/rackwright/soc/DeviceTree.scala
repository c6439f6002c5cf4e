package rackwright.soc

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import freechips.rocketchip.diplomacy.DTB

/** Compiles device trees by `dtc`, through files: Rocket Chip's own way reads a pipe and may stop before its end. */
object DeviceTree {

  /** The blob of a device tree's source. */
  def compiled(source: String): DTB = {
    val folder = Files.createTempDirectory("device-tree")
    val (text, blob) = (folder.resolve("chip.dts"), folder.resolve("chip.dtb"))
    try {
      Files.write(text, source.getBytes(UTF_8))
      val dtc = new ProcessBuilder("dtc", "-q", "-O", "dtb", "-o", blob.toString, text.toString).inheritIO().start()
      val status = dtc.waitFor()
      require(status == 0, s"dtc ended with status $status for the device tree of the chip")
      DTB(Files.readAllBytes(blob).toSeq)
    } finally {
      Seq(text, blob, folder).foreach(Files.deleteIfExists(_))
    }
  }
}
