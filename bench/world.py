"""How fast a Workload becomes Instances in its cities, beside Pods of a StatefulSet if asked.

    .venv/bin/python bench/world.py                             1, 100 and 10,000 over 1, 10 and 100 cities
    .venv/bin/python bench/world.py --sizes 1000 --cities 3     one world of that size
    .venv/bin/python bench/world.py --quick                     a short run
    .venv/bin/python bench/world.py --help                      everything else

Each world is that of `compute up`, in a process of its own, on a disk. The numbers come from the process
itself. What is measured is in docs/performance.md.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load`
    runpy.run_module("bench.load.world", run_name="__main__", alter_sys=True)
