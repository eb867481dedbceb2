"""Speed, memory and loss of setveil, measured: ``python -m benchmarks [NAME ...]``.

Work is seeded and warmed, short work is repeated and its median taken, and what is timed against a bar
is never a test. A map::

    catalogue   the names, and which of them run by default
    data        the data each one works on: real files, or generated from a seed
    worker      one piece of work in a fresh process: seconds, CPU, peak memory, loss, verdict
    grid        many points on the same data in one process, stopped where they take too long
    context     how a benchmark asks for such work; small inputs and no processes with --quick
    report      tables and bars; text, JSON and Markdown
    plot        small multiples as SVG
    work/       the benchmarks themselves
    results/    what was measured last
"""
