"""Methods that end, stop, double or flood the process that fits them, a plugin."""

import os
import time

from correct_methods import MeanGap

from mfbench import SelectorSpec, hookimpl


class Exits(MeanGap):
    def gaps(self, X, y):
        os._exit(7)


class Hangs(MeanGap):
    def gaps(self, X, y):
        time.sleep(3600)


class Prints(MeanGap):
    def gaps(self, X, y):
        os.write(1, b"noise\n" * 10000)
        return super().gaps(X, y)


class Forks(MeanGap):
    def gaps(self, X, y):
        os.fork()  # both processes return
        return super().gaps(X, y)


@hookimpl
def mfbench_selectors():
    methods = (Exits, Hangs, Prints, Forks)
    return [SelectorSpec(name=one.__name__.lower(), summary="Unruly", factory=one) for one in methods]
