"""Races: methods leave a run once they cannot be the winner any more (``mfbench suite NAME --race plan``)."""
