"""The numbers of distributed fits that are set by hand."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DistributedTuning:
    """What decides where partitions are kept, how many blocks there are, and when a worker is given up."""

    unpacked: float = 4.0
    """Bytes in memory for each byte of a file: svmlight text takes about 2, compressed npz 4, Parquet 6."""

    alone_bytes: float = 64 * 2**20
    """Bytes of samples that one thread solves sooner than several agree (20newsgroups, benchmark distributed_rounds): wide data
    get a block for each, and the driver begins with at most half of that, which it solves by itself."""

    round_values: float = 1.5e6
    """Stored values that a block visits between two merges (zipf_2m, benchmark distributed_rounds). With fewer the rounds cost
    more than the work, with more the blocks work against each other."""

    late: float = 8.0
    """Multiple of the blocks' median time after which a block is given to another worker."""

    grace: float = 3.0
    """Seconds that a worker may take in any case: to answer a round, and to show that the client reaches it directly."""

    looks: tuple[float, ...] = (0.0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
    """Where a line is looked at in one round: step lengths of a Newton step, and margins on either side of a free bias. Looks are
    cheap beside the pass over the data that they share."""


TUNING = DistributedTuning()
"""Those in use."""
