"""Why Motet is behind at points of the loop view, as far as that is known.

A reason holds for the points for which measurements have shown it; docs/performance.md has them. At
all other points the page says that the reason is not known."""

from .loops import kind_and_count

UNKNOWN = "not known"
FOREIGN = ("other", "pulse", "build")  # programs in sessions of their own
POLLING = "the ranks of Intel MPI always poll: fast while they have their cores, at a stand for " \
    "whole time slices in between; in the mean Motet is ahead"


def reason(row, figure, peer, mean_ratio):
    """A sentence for a point at which Motet is behind a peer; `mean_ratio` is the ratio of the
    means of this row and form."""
    is_foreign = kind_and_count(row.disturb)[0] in FOREIGN
    if figure == "median" and peer == "impi" and is_foreign and mean_ratio >= 1:
        return POLLING
    return UNKNOWN
