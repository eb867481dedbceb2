"""The benchmarks, one function ``run(context) -> Report`` for each name of `benchmarks.catalogue`."""
