"""How long our managers and Karmada take together, beside Karmada alone and the embedded engine.

    .venv/bin/python bench/federation.py                        everything, on both engines
    .venv/bin/python bench/federation.py --only latencies,lives some parts
    .venv/bin/python bench/federation.py --engines embedded     without real servers
    .venv/bin/python bench/federation.py --quick                a short run
    .venv/bin/python bench/federation.py --help                 everything else

Planes and managers are processes of their own, on loopback ports. Karmada and Kubernetes are those of
`make peers`. What is measured is in docs/performance.md.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load`
    runpy.run_module("bench.load.federation", run_name="__main__", alter_sys=True)
