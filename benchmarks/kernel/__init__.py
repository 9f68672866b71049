"""The kernel alone, without Spark around it: `KernelBench.scala`, built against the plugin and called over py4j."""
