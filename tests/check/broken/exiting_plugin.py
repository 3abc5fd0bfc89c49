"""A plugin whose import ends the process."""

import os

os._exit(0)
