"""The main module of local Dask workers, in place of the script that started the run.

The script would start the run again in each worker. Ctrl-C reaches all processes of the terminal, but only the driver
should handle it; the driver then ends the workers.
"""

from __future__ import annotations

import signal

if __name__ == "__mp_main__":  # the name under which `multiprocessing` runs it in a new process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
