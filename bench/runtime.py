"""What a controller costs on our runtime, beside the same controller on kopf.

    .venv/bin/python bench/runtime.py                       both, 1,000 and 10,000 parents, 100 planes
    .venv/bin/python bench/runtime.py --sizes 1000,10000,100000
    .venv/bin/python bench/runtime.py --quick               a short run
    .venv/bin/python bench/runtime.py --help                everything else

The controller makes one child for each parent and writes one status. Both run as a process of their
own against `compute plane`, over HTTPS. What is measured is in docs/performance.md.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.controllers`
    runpy.run_module("bench.controllers", run_name="__main__", alter_sys=True)
