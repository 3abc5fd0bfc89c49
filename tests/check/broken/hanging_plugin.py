"""A plugin whose import does not return."""

import time

time.sleep(3600)
