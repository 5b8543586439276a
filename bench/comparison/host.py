"""What the host of a virtual machine takes from it."""

# Of the line of all cores in /proc/stat, in ticks: user, nice, system, idle, iowait, irq, softirq,
# steal; what follows is part of the first two.
COUNTED, STOLEN = 8, 7


class Stolen:
    """The share of the time of all cores that the host gave to others since this was made."""

    def __init__(self):
        self.begun = ticks()

    def share(self):
        """From 0 to 1; 0 where the system does not say."""
        passed = [now - then for now, then in zip(ticks(), self.begun)]
        return passed[STOLEN] / max(1, sum(passed)) if len(passed) == COUNTED else 0


def ticks():
    """Those of all cores together since the system began, or none."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return [int(field) for field in file.readline().split()[1:1 + COUNTED]]
    except (OSError, ValueError):
        return []
