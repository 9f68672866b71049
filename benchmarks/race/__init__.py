"""The race of the A-Tree thesis, chapter 5: its filters and their peers on arrays, on a plain JVM without Spark."""
