"""Measures the embedded plane over HTTPS and without sockets, beside a kube-apiserver if one is given.

    .venv/bin/python bench/plane.py                                         our plane by itself
    .venv/bin/python bench/plane.py --peer https://HOST:PORT --token T --ca CA.crt   both, and ratios
    .venv/bin/python bench/plane.py --quick --only create,get               a short run
    .venv/bin/python bench/plane.py --help                                  everything else

Both servers get the same requests from the same processes, in rounds that take turns, so that a busy
machine slows both. What is measured, and how to read it, is in docs/performance.md.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load`
    runpy.run_module("bench.load", run_name="__main__", alter_sys=True)
