"""The main module of the workers of a cluster of this machine, instead of the script that has started the run.

A script would start the run again in each worker. Ctrl-C reaches all processes of a terminal, but is for the driver
alone, which ends the workers.
"""

from __future__ import annotations

import signal

if __name__ == "__mp_main__":  # the name by which `multiprocessing` runs it in a new process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
