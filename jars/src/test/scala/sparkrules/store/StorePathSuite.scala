package sparkrules.store

import java.io.File

import scala.util.{Failure, Try}

import org.apache.hadoop.conf.Configuration

import sparkrules.Suite

final class StorePathSuite extends Suite {
  private val plain = new Configuration(false)

  test("s3:// is s3a:// unless it has a file system of its own") {
    checkEqual(StorePath("s3://bucket/rules", plain).toString, "s3a://bucket/rules", "without one")
    val own = new Configuration(false)
    own.set("fs.s3.impl", "org.apache.hadoop.fs.LocalFileSystem")
    checkEqual(StorePath("s3://bucket/rules", own).toString, "s3://bucket/rules", "with one")
    Seq("s3a://bucket/rules", "/data/s3://x", "gs://b/r", "hdfs://ann@host:8020/rules", "file:/data/a?b:c@d",
      "abfss://container@account.dfs.core.windows.net/rules").foreach { path =>
      checkEqual(StorePath(path, plain).toString, path.replace("s3://x", "s3:/x"), "as it is")
    }
  }

  test("credentials in a URL are refused, and not repeated") {
    Seq("s3a://key:secret@bucket/x", "s3://key:sec/ret@bucket/x", "s3a://secret@bucket/x", "gs://b/x?token=secret",
      "abfss://c:secret@account.dfs.core.windows.net/x", "abfss://c@account/x?sig=secret", "hdfs://ann:secret@host/x")
      .foreach { url =>
        Try(StorePath(url, plain)) match {
          case Failure(error) =>
            check(error.getMessage.contains("contains credentials"), s"$url: $error")
            check(!error.getMessage.contains("sec"), s"$url: $error")
          case other => check(condition = false, s"$url: $other")
        }
      }
  }

  test("what may be an object store that looks like a directory") {
    Seq("/Volumes/main/rules/1.json", "/dbfs/rules/1.json").foreach { path =>
      check(LocalNewFiles.objectStoreAt(new File(path)).nonEmpty, path)
    }
    check(LocalNewFiles.objectStoreAt(new File("/proc/1.json")).isEmpty, "/proc")
  }
}
