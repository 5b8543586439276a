"""A model of the least time of a turn of a collective: what the machine needs with any library.

    least = lines + copies + switches + computation

p ranks run on c = min(p, cores) cores; a block has B bytes, the size of the row.

lines        A cache line that a rank writes reaches the other cores after one *hop*, which the loop
             view measures before and after each run. A core reads the lines of all others at once
             while each of them writes its own one. So one hop is the least whatever the operation
             and the number of ranks, and 0 on a single core. With the spacing `none` or a
             computation, rooted operations and `scan` are rates: the senders run ahead, and the hop
             is that of the line pushed in this turn, not a round trip. With the spacing `barrier`
             each rank learns that all others have the data: a second hop, for all operations.

copies       The bytes that the operation must write, over c cores that copy at once, each at the
             rate of a `memcpy` into shared pages of as many bytes as its share. Any core may make
             any copy, and a byte that is reduced costs as much as one that is copied: it is read
             and written. In blocks of B bytes, for p > 1:

             bcast                                   p - 1, of the others
             scatter(v), gather(v), scan             p
             reduce                                  p - 1, one for each pair that is reduced
             allreduce                               2 (p - 1): reductions, then copies of the sum
             allgather(v), alltoall(v, w)            p²
             reduce_scatter(_block)                  p (p - 1)
             neighbor_allgather, neighbor_alltoall,
             halo, polled_halo                       p k; k is 2 (ring) or 4 (grid: p is no prime)
             inter_bcast                             those of the second half, p - p div 2
             inter_allreduce                         for the halves of g and h ranks: max(h - 1, 1)
                                                     + g - 1, and the same with g and h exchanged
             strided_bcast                           2 (p - 1): every other 8 B of a line are used,
             strided_alltoall, indexed_allgather     2 p²       but whole lines move

             The v and w forms have blocks of B bytes on average, so they need as much as the even.

switches     Where each rank needs data of all others, p / c ranks of a core must all run in each
             turn. The last one that runs has all data and goes on with the next turn, so a core
             switches at least p / c - 1 times in a turn from one rank to another. A barrier is one
             more operation of this kind. Rooted operations, `scan`, neighbours and operations
             between groups may do several turns in a row; no switch is counted for them.

computation  That of p / c ranks, one after the other, on each core.

It is the least *mean* of turns. Windows of many turns have the same least time, and so has their
median, with one exception: where rates share cores, the rank that takes the time does a burst of
turns with data that came before, and others do their part of the work outside of its windows.

What the model leaves out, so that a real library cannot reach it: the call itself, headers, copies
of more than one step, and cores that share the bandwidth of the memory. What may make a figure less
than the model: a machine that was in another state when its limits were measured; and of a rate, a
processor that fetches the lines of the next turns early, or another program on its cores, which
makes bursts of turns as sharing ranks do.

It has no figure where it does not hold: beside disturbing programs, with a quota, with random
computation (ranks wait for the slowest one), where the hop changed during the row or is not known,
for `step`, `overlap` and `mixed`, and for files of results without limits."""

import statistics
from dataclasses import dataclass

from .loops import BETWEEN_GROUPS, NEIGHBOURS

LINE_BYTES_OVER_USED = 2  # of types with gaps as long as their pieces
ROOTED = ("bcast", "scatter", "scatterv", "gather", "gatherv", "reduce", "scan", "inter_bcast",
          "strided_bcast")


@dataclass(frozen=True)
class Machine:
    """What was measured of a machine."""

    cores: int
    hop_us: float  # of a line from one core to another
    switch_us: float  # of a core from one process to another
    copies: tuple  # (bytes, microseconds) of a memcpy, the shortest first

    def copy_us(self, size):
        """Microseconds of a copy: on the lines between those that were measured and (0, 0); beyond
        the longest one at its rate."""
        before, before_us = 0, 0.0
        for known, known_us in self.copies:
            if size <= known:
                share = (size - before) / (known - before)
                return before_us + share * (known_us - before_us)
            before, before_us = known, known_us
        return before_us * size / before


def machine(limits, hop_ns, cores):
    """The machine of a row by the records of its limits, the medians of which count; or None."""
    if not limits or not hop_ns or cores < 2:
        return None
    sizes = sorted({int(size) for record in limits for size in record["memcpy"]})
    return Machine(cores, hop_ns / 1000, statistics.median(record["switch"] for record in limits),
                   tuple((size, statistics.median(
                       record["memcpy"][str(size)] for record in limits
                       if str(size) in record["memcpy"])) for size in sizes))


def read_limits(lines):
    """The record of what `limits` has printed: (name, bytes, microseconds) each; or None if it has
    not printed all."""
    found = {"memcpy": {}}
    for name, size, microseconds in lines:
        if name == "memcpy":
            found["memcpy"][str(size)] = microseconds
        else:
            found[name] = microseconds
    return found if "switch" in found and found["memcpy"] else None


def neighbours(ranks):
    """Neighbours of a rank: four in a grid of two dimensions, two in a ring."""
    return 4 if any(ranks % side == 0 for side in range(2, ranks)) else 2


def reduced_across(first, second):
    """Blocks written so that each rank of the first half has the sum of the second one."""
    return max(second - 1, 1) + first - 1


def blocks_written(operation, ranks):
    """Blocks that all ranks together must write, or None for what is no collective."""
    pairs, first = max(ranks - 1, 1), ranks // 2
    return {
        "bcast": ranks - 1, "scatter": ranks, "scatterv": ranks, "gather": ranks,
        "gatherv": ranks, "scan": ranks, "reduce": pairs,
        "allreduce": pairs + ranks - 1, "allgather": ranks ** 2, "allgatherv": ranks ** 2,
        "alltoall": ranks ** 2, "alltoallv": ranks ** 2, "alltoallw": ranks ** 2,
        "reduce_scatter_block": ranks * pairs, "reduce_scatter": ranks * pairs,
        **{operation: ranks * neighbours(ranks) for operation in NEIGHBOURS},
        "inter_bcast": ranks - first,
        "inter_allreduce": reduced_across(first, ranks - first)
        + reduced_across(ranks - first, first),
        "strided_bcast": LINE_BYTES_OVER_USED * (ranks - 1),
        "strided_alltoall": LINE_BYTES_OVER_USED * ranks ** 2,
        "indexed_allgather": LINE_BYTES_OVER_USED * ranks ** 2,
    }.get(operation)


def needs_all(operation):
    """Whether each rank needs data of all others."""
    return operation not in (*ROOTED, *NEIGHBOURS, *BETWEEN_GROUPS)


def comes_in_bursts(row, cores):
    """Whether a median of windows may be less than the least mean."""
    return row.operation in ROOTED and row.spacing != "barrier" and 0 < cores < row.ranks


def is_modelled(row):
    """Whether the model holds for a row."""
    return (blocks_written(row.operation, row.ranks) is not None and not row.why_not()
            and row.disturb == "none" and row.quota == "none"
            and not row.spacing.startswith("random"))


def least_us(row, of):
    """The least time of a turn of a row on a machine, in microseconds, or None."""
    if not of or not is_modelled(row):
        return None
    cores = min(row.ranks, of.cores)
    is_spaced = row.spacing == "barrier"
    lines = (1 + is_spaced) * of.hop_us if cores > 1 else 0
    copies = of.copy_us(blocks_written(row.operation, row.ranks) * row.size / cores)
    switches = (needs_all(row.operation) + is_spaced) * (row.ranks / cores - 1) * of.switch_us
    return lines + copies + switches + row.work_us() * row.ranks / cores
