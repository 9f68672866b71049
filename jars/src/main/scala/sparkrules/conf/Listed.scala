package sparkrules.conf

object Listed {

  /** The first of some names, and how many more there are: `a, b and 3 more`. */
  def apply(names: Seq[String], most: Int): String = {
    val more = if (names.length > most) s" and ${names.length - most} more" else ""
    names.take(most).mkString(", ") + more
  }
}
