package rackwright.elaborate

import java.nio.file.{Files, Path}

import rackwright.allocate.AllocateDescription
import rackwright.combined.{CombinedCompressorDescription, CombinedDecompressorDescription}
import rackwright.copy.StreamCopyDescription
import rackwright.crossbar.CrossbarDescription
import rackwright.crypto.AesDescription
import rackwright.daronpon.DaronponDescription
import rackwright.deflate.decode.DeflateDecompressorDescription
import rackwright.deflate.encode.DeflateCompressorDescription
import rackwright.drx.DrxDescription
import rackwright.foreign.{ForeignDescription, ForeignManifest}
import rackwright.gather.GatherDescription
import rackwright.internet.NetworkDescription
import rackwright.mover.MoverDescription
import rackwright.nic.NicDescription
import rackwright.noc.MeshDescription
import rackwright.ordered.OrderedDescription
import rackwright.pagefault.PageFaultDescription
import rackwright.pcie.TrafficDescription
import rackwright.protobuf.parse.DeserializerDescription
import rackwright.protobuf.write.SerializerDescription
import rackwright.snappy.{SnappyCompressorDescription, SnappyDecompressorDescription}
import rackwright.store.StoreDescription
import rackwright.unit.{UnitDescription, UsageError}
import rackwright.zstd.decode.ZstdDecompressorDescription
import rackwright.zstd.encode.ZstdCompressorDescription

/** The units that are included in the product, in the order of the list. */
object Units {
  val all: Seq[UnitDescription] = Seq(
    SnappyCompressorDescription,
    SnappyDecompressorDescription,
    ZstdCompressorDescription,
    ZstdDecompressorDescription,
    DeflateCompressorDescription,
    DeflateDecompressorDescription,
    CombinedCompressorDescription,
    CombinedDecompressorDescription,
    DeserializerDescription,
    SerializerDescription,
    StreamCopyDescription,
    AllocateDescription,
    AesDescription,
    GatherDescription,
    StoreDescription,
    OrderedDescription,
    NetworkDescription,
    NicDescription,
    PageFaultDescription,
    DaronponDescription,
    DrxDescription,
    MeshDescription,
    CrossbarDescription,
    TrafficDescription
  )

  /** The unit with that name. */
  def named(name: String): UnitDescription =
    all.find(_.name == name).getOrElse(throw UsageError(
      s"no unit is named $name; there are ${all.map(_.name).mkString(", ")}"
    ))

  /** The user's unit in Verilog that a manifest describes; its parameters have their values. */
  def ofManifest(path: Path): UnitDescription =
    new ForeignDescription(new ForeignManifest(ujson.read(Files.readString(path))))

  /** The mover for the streams of the user's unit in Verilog that a manifest describes. */
  def moverOf(path: Path): UnitDescription = new MoverDescription(ujson.read(Files.readString(path)))

  /** The unit described by a class on the class path: a Scala object, or a class whose constructor has no parameters.
    */
  def ofClass(className: String): UnitDescription = {
    def load(name: String): Option[Class[_]] =
      try Some(Class.forName(name))
      catch { case _: ClassNotFoundException => None }
    val instance = load(className + "$")
      .map(_.getField("MODULE$").get(null))
      .orElse(load(className).map(_.getDeclaredConstructor().newInstance()))
    instance match {
      case Some(unit: UnitDescription) => unit
      case Some(_) => throw UsageError(s"class $className is not a rackwright.unit.UnitDescription")
      case None => throw UsageError(s"class $className is not on the class path")
    }
  }
}
