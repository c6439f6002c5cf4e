package rackwright.soc

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import freechips.rocketchip.diplomacy.DTB

/** What Rocket Chip's device trees lack, and their blobs. */
object DeviceTree {
  private val cpus = raw"(?m)^(\t*)(?:\w+: )?cpus \{\n".r

  /** A tree whose node of all harts says the rate of `mtime`, where OpenSBI and Linux look for it; Rocket Chip says it
    * in the node of each hart.
    */
  def withTimebase(source: String, hertz: Int): String = {
    require(cpus.findFirstIn(source).nonEmpty, "the device tree of the chip has no node for harts")
    cpus.replaceFirstIn(source, s"$$0$$1\ttimebase-frequency = <$hertz>;\n")
  }

  /** The blob of a device tree's source, by `dtc` through files: Rocket Chip's own way reads a pipe and may stop before
    * its end.
    */
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
