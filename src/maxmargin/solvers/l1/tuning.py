"""The numbers of the L1 solvers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class L1Tuning:
    """Numbers set by hand for `PrimalCD` and `LinearProgram`; work is counted in entries that a loop passes over.

    Where no data set is named, a number was chosen by hand: the campaigns found no stall because of it, and no benchmark of its
    effect is on record.
    """

    rounds: int = 12
    """Smoothed problems of the hinge before the linear programs."""

    growth: float = 1.2
    """How many times sharper each of them is than the last."""

    sweeps: int = 3
    """Visits of each chosen column in a round; twice as many where no Newton steps follow: the hinge."""

    newton_steps: int = 4
    """After the sweeps of a round, at most: squared hinge only, where enough samples bend."""

    patience: int = 20
    """Rounds of the descent, or steps of the interior point, in which the gap must fall by a tenth."""

    close: float = 1e-7
    """The gap at which the interior point gives way: the corner is known by then, and its arithmetic wears out."""

    near: float = 0.95
    """Share of its price from which the slope along a column without a weight lets it take part. Rows take part that are as close
    to the margin, relatively."""

    joining: int = 50
    """So many columns, and four times as many rows, join a program at a time, or half as many as there are if that is more. The
    first program without a warm start has four times as many columns."""

    accuracy: float = 1e-10
    """What HiGHS may miss constraints by, the finest that it takes; rows and columns join that are wrong by ten times as much."""

    simplex_work: float = 3.0
    """Of a step of HiGHS's simplex, for each entry of the constraints; on `farm_ads`."""

    tableau: int = 4_000_000
    """Entries of a dense tableau, at most; so many are passed over between two looks at the clock."""

    exchanges: int = 3
    """In a tableau, for each column, at most: those that end need 1.5 at most along the path of `webkb`; others may cycle."""

    less_likely: float = 1e-3
    """Rows that are not known to be on the margin are taken for the first corner where others are smaller by this factor."""

    far_inside: float = 1e3
    """Products where the interior point begins, in units of the mean α times the margin 1. With 1 badly scaled tables take twice
    as many steps."""

    short_of: float = 0.95
    """Share of the way to the boundary that a step inside may go."""

    steps_inside: int = 30
    """Steps of a usual problem: 10 to 45 on the tables of the benchmark, whatever their units and costs."""

    factored: int = 1500
    """Columns, or samples, of a factored matrix; 1500³/3 multiplications take some 50 ms."""

    weighty: float = 1e-2
    """Columns that weigh less than this stay out of the preconditioner."""

    most_gradients: int = 100
    """Conjugate gradients for one right side, at most."""

    usual_gradients: int = 20
    """Conjugate gradients for a usual right side, on `farm_ads` and `webkb4`."""

    refinements: int = 3
    """Of the direct solution."""

    blas: int = 20
    """Multiplications of a dense product in the time in which a loop passes over one entry."""

    calls: float = 3e6
    """Work in the time in which the calls of one step inside are made: 1 ms with dense data, 4 ms with sparse ones."""


TUNING = L1Tuning()
