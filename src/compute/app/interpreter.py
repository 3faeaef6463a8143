"""The interpreter, set up for a server that keeps much, makes little waste, and writes to disk.

What a plane keeps is bytes, and nearly all of what a request makes is gone when it is answered. So
the garbage collector finds next to nothing, and each of its full passes looks at everything: without
care they cost half of the throughput.

The thread that writes to disk needs the interpreter for moments between long times without it. A
busy event loop would let it wait for each of them as long as Python thinks fair between equals.
"""

import ctypes
import gc
import sys
from typing import Final

# Objects that must be made, and kept, before the young are looked at. That is when everybody waits:
# 10,000 take up to 13 ms, and 50,000 took up to 49 ms.
_YOUNG: Final = 10_000
_MIDDLE: Final = 100
_OLD: Final = 100

# Seconds until a busy thread lets another in. While a world of 2,000 Instances comes up, a status is
# copied to the hub in 74 instead of 88 ms and shown in the project in 71 instead of 126 ms (p50),
# compared with Python's own 5 ms, for the same CPU.
_TURN: Final = 0.0005

_M_MMAP_THRESHOLD: Final = -3
_MAPPED: Final = 256 * 1024


def settle() -> None:
    """Leave out what is there now for good, and look seldom. Call it once everything is loaded."""
    # uvloop has a buffer of 256 KiB for each TLS connection, most of it never touched. The C library
    # must map those: in its heap they get pages that others have touched, 15 KiB more for each.
    if hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED)
    sys.setswitchinterval(_TURN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
