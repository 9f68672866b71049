"""What the page says that is not measured: the papers, their misprints, and where each algorithm lives."""

from __future__ import annotations

from dataclasses import dataclass

Misprint = tuple[str, str, str, str]
"""Where, what is printed, what is right, and the test that shows it."""
Module = tuple[str, str, str, str]
"""The algorithm, its module, its tests, and who reaches it."""

SPECIFICATION = "a specification, not in the wheel"


@dataclass(frozen=True)
class Plot:
    """A plot and what it shows."""

    name: str
    caption: str


@dataclass(frozen=True)
class Paper:
    """A paper on the page."""

    short: str
    title: str
    about: str
    experiments: tuple[str, ...]
    plots: tuple[Plot, ...]
    modules: tuple[Module, ...]
    misprints: tuple[Misprint, ...]
    notes: tuple[str, ...] = ()


_ATREE, _FILTERS = "tests/specification/atree.py", "tests/specification/filters.py"
_TEST_ATREE = "tests/specification/test_atree.py"

THESIS = Paper(
    "The A-Tree",
    "M. R. F. Jewel: A Fast Filtering Engine for Publish/Subscribe System (thesis, 2004)",
    """One forest of nodes for all subscriptions, three filters that go through it, and a comparison with brute force,
counting and Gryphon's matching tree. All of them run on arrays here, in one JVM, one thread, without Spark
([benchmarks/race](../benchmarks/race/Race.scala)). At each point every algorithm must give the same matches; then they
take turns, and the median of three rounds of processor time counts. Subscriptions are those of 5.2, with SNPS (the
share of a subscription's inner nodes that others have) and SMPE (the share of subscriptions that an event matches) in
the middle of the thesis' ranges; the JSON has what was measured. *Computed* are nodes whose value was computed.""",
    ("thesis-5.4", "thesis-5.5", "thesis-5.6", "thesis-5.7", "thesis-5.8", "thesis-5.9", "thesis-kernel"),
    (
        Plot("thesis-events", "5.4: conjunctions of equalities. Both axes are logarithmic"),
        Plot(
            "thesis-maintenance",
            "5.4: insertions, deletions and memory. The three filters share one forest, here as *general*; zero "
            "suppression takes as much memory",
        ),
        Plot("thesis-filters", "5.5 and 5.6: `>` with AND and OR, and with XOR"),
        Plot("thesis-sweeps", "5.7 to 5.9: what is swept, at the largest size that all points have"),
    ),
    (
        ("A-Tree: insertion, deletion, users' functions (3.3, 3.6)", _ATREE, _TEST_ATREE, SPECIFICATION),
        ("general, zero suppression, true value path (3.4, 3.5)", _FILTERS, _TEST_ATREE, SPECIFICATION),
        (
            "priorities (4.1)",
            "tests/specification/priorities.py",
            "tests/specification/test_priorities.py",
            SPECIFICATION + "; users: `priority` of a rule",
        ),
        ("the forest as arrays", "sparkrules/index/forest.py", "tests/specification/test_index.py", "all rule sets"),
        (
            "partial match, constraints (4.2)",
            "sparkrules/sql/threshold.py",
            "tests/sql/test_row_functions.py",
            "`at_least`, `matched` in rules",
        ),
        (
            "the race",
            "benchmarks/race/Race.scala",
            "tests/benchmarks/test_race.py",
            "`make papers`",
        ),
    ),
    (
        (
            "algorithm 1",
            "only true leaves are enqueued, `current_level` never advances, and the loop ends below the highest level",
            "nodes that are true from nothing (NOT, NAND) are in their queues from the beginning; all levels",
            _TEST_ATREE,
        ),
        (
            "algorithm 3",
            "`matched_list`: non-leaf nodes",
            "the true leaves, as in its example (3.5.3)",
            _TEST_ATREE,
        ),
        (
            "3.6.2, recurrence",
            "min over i < k < j, joining T(1, k) and T(k + 1, n)",
            "min over i <= k < j, joining T(i, k) and T(k + 1, j)",
            _TEST_ATREE,
        ),
        ("algorithm 6", "`i` is not incremented", "`i <- i + 1`", _TEST_ATREE),
        ("algorithms 5 and 8", "use counts per path", "per subscription, as 3.3.1 defines", _TEST_ATREE),
        (
            "4.1, deletion",
            "the priority of a node is the highest of its parents",
            "of its parents and of the subscriptions that end at it",
            "tests/specification/test_priorities.py",
        ),
        (
            "4.1, exception",
            "S_i, of higher priority, comes first unless S_i occurs in S_j",
            "unless S_j occurs in S_i, as its example says",
            "tests/specification/test_priorities.py",
        ),
    ),
    (
        (
            "The figures of the thesis are pictures, and lost in the text that we have; claims are those of its text "
            "and tables."
        ),
        (
            "In 5.4 an event that matches a share of 0.1 % matches ten times as many subscriptions where there are ten "
            "times as many. All of them are conjunctions of the same 20 values, so they share nodes whatever the pools "
            "are. To keep SNPS, a part of the subscriptions has values of its own that no event has."
        ),
        (
            "Gryphon needs one set of attributes for all subscriptions, or a chain of *don't care* edges. The matching "
            "tree here takes such a chain as one edge."
        ),
        (
            "With `>` and a share of matches above a tenth, all algorithms have to touch much of what they have. Brute "
            "force does so in the order of memory, and from some size on it is ahead of the filters."
        ),
        (
            "Our kernel is the plugin's, measured by `python -m benchmarks --level kernel` on the same subscriptions. "
            "It lists the numbers of the matching rules, as the others do."
        ),
    ),
)

_TEST_PRUNING = "tests/logic/test_pruning.py"
ADVERTISEMENTS = Paper(
    "Advertisements",
    "S. Bittner, A. Hinze: Arbitrary Boolean Advertisements (2006)",
    """Which subscriptions could match a row that an advertisement describes? *First* asks whether there is any, *All*
asks for all. The Boolean algorithm works on trees, the conjunctive one on disjunctive normal forms. Advertisements are
pruned to take less memory, at the price of more overlaps. Times are those of one process, in Python and numpy on both
sides; *memory* is the number of predicate associations. Prices are drawn so that few of class 1 overlap, as in the
paper ([more](overlap.md#how-fast)).""",
    ("advertisements", "advertisement-pruning", "both-prunings"),
    (Plot("advertisement-pruning", "Table 4: memory removed at the cut-off"),),
    (
        (
            "overlap of Boolean expressions (3, 4)",
            "sparkrules/logic/advertisements.py",
            "tests/logic/test_advertisements.py",
            "`overlaps`, `overlap_subscriptions`",
        ),
        (
            "overlapping rank, degradation (5)",
            "sparkrules/logic/overlapping_rank.py",
            _TEST_PRUNING,
            "`advertisements.prune`",
        ),
        ("the queue of prunings", "tests/specification/pruning_queue.py", _TEST_PRUNING, SPECIFICATION),
        (
            "tables 3 and 4, 6.5",
            "benchmarks/advertisements.py",
            "tests/benchmarks/test_advertisements.py",
            "`make papers`",
        ),
    ),
    (
        (
            "table 1",
            "several rows assume integers or lack a value, such as EQUALS against GREATERTHAN",
            "the definition: no value is equal to v and greater than v, so v itself violates",
            "tests/logic/test_advertisements.py",
        ),
        (
            "example 6, A4",
            "average .01152, above its own maximum",
            ".01114, so the degradation is (.13, .28, .28)",
            _TEST_PRUNING,
        ),
    ),
    (
        (
            "Candidates are counted once for each violating set: a subscription with two sets can meet an "
            "advertisement twice, which is why there are more than 1.0 per advertisement, here as in the paper."
        ),
    ),
)

PRUNING = Paper(
    "Subscription pruning",
    "S. Bittner, A. Hinze: Pruning Subscriptions in Distributed Publish/Subscribe Systems (2005)",
    """Removing a child of an AND makes a subscription more general and smaller. A queue takes the least harmful pruning
of all subscriptions. The *union* is the share of rows that at least one subscription matches; the *bend* of its curve
is the point farthest below the line between its ends. The paper counted books on eBay in 2005. Those counts are lost:
the rows here have its attributes with made-up distributions.""",
    ("subscription-pruning",),
    (Plot("subscription-pruning", "Figures 6 to 9: the union grows late, predicates go from the beginning"),),
    (
        (
            "selectivity of an expression (4)",
            "sparkrules/logic/selectivity.py",
            "tests/logic/test_selectivity.py",
            "`RuleSet.selectivity`",
        ),
        ("prunings (5)", "sparkrules/logic/pruning.py", _TEST_PRUNING, "`RuleSet.prune`"),
        ("the queue of prunings", "tests/specification/pruning_queue.py", _TEST_PRUNING, SPECIFICATION),
        ("table 2", "benchmarks/pruning.py", "tests/benchmarks/test_pruning.py", "`make papers`"),
    ),
    (
        (
            "4, minimum of AND",
            "min(0, a + b - 1)",
            "max(0, a + b - 1); its example sel(H) = (.7, .77, 1) shows it",
            _TEST_PRUNING,
        ),
        ("6, class 1", "77 % of the predicates gone", ".667, as its table 2 says", "tests/benchmarks/test_pruning.py"),
    ),
    (
        (
            "The tree of class 3 is inferred: of those considered, only that of the paper on advertisements has three "
            "prunings and loses .368 of its predicates at .525."
        ),
        "For a scan filter this is the wrong measure: [Filters](pruning.md#how-it-is-decided).",
    ),
)

_SCHEDULES, _TEST_SCHEDULES = "tests/specification/schedules.py", "tests/specification/test_schedules.py"
EXPENSIVE = Paper(
    "Expensive predicates",
    "Z. Liu, S. Parthasarthy, A. Ranganathan, H. Yang: Scalable Event Matching for Overlapping Subscriptions (2007)",
    """Predicates are expensive, and rules share them: in which order are they evaluated? Counted are evaluations per
row; nothing is timed. The paper gives the share of rules that match a row, .2 %, but no selectivities. The *selectivity
model* is `uniform`: between 0 and twice the mean that follows from that share; `python -m benchmarks.schedules --model`
has two others. *By predicate* is not in the paper: first what is expected to refute the most rules for its cost.""",
    ("expensive-predicates",),
    (Plot("expensive-predicates", "Figures 4 to 8"),),
    (
        ("naive, Sequential, Sub-Order (4)", _SCHEDULES, _TEST_SCHEDULES, SPECIFICATION),
        (
            "unification of calls (2.1)",
            "tests/specification/unification.py",
            _TEST_SCHEDULES,
            SPECIFICATION + "; users: variables in rules",
        ),
        ("figures 4 to 8", "benchmarks/schedules/claims.py", "tests/benchmarks/test_schedules.py", "`make papers`"),
        (
            "calls of Python functions, only where needed",
            "jars/src/main/scala/sparkrules/python/PythonSteps.scala",
            "tests/benchmarks/test_udfs.py",
            "all queries with such rules",
        ),
    ),
    (
        (
            "4.2.4, C'",
            "1 + ..., so 1 where nothing is above the shared predicate",
            "0 there; by enumeration of all rows the corrected formula is exact",
            _TEST_SCHEDULES,
        ),
        (
            "figure 4",
            "Sub-Order evaluates 7,037 of 40,000 predicates for 80,000 rules",
            "at least 7,757: so many rules have no predicate in common",
            "benchmarks/schedules/evaluations.py",
        ),
        (
            "figure 6",
            "naive evaluates 16,251 predicates",
            "at most 14,589 occur in 20,000 rules over 30,000 predicates (five draws)",
            "benchmarks/schedules/workload.py",
        ),
    ),
    (
        (
            "A page of the paper is missing (figure 2, 4.2.1, most of 4.2.2), and so are the figures: the text names "
            "seven values."
        ),
        "[Expensive predicates](expensive-predicates.md) has what the plugin does.",
    ),
)

_TREE, _TEST_TREE = "tests/specification/profile_tree.py", "tests/specification/test_profile_tree.py"
DISTRIBUTIONS = Paper(
    "Distributions",
    "A. Hinze, S. Bittner: Efficient Distribution-Based Event Filtering (2002)",
    """A tree has an attribute at each level; its edges are tried in an order of values: natural, by how frequent they
are in events (V1), in profiles (V2), or both (V3), or by binary search. Attributes come in an order, too: by the share
of values that nobody wants (A1), times the share of events that have them (A2), or by trying all orders (A3). Counted
are comparisons. The paper's 60 distributions are a picture; ours are named *events / profiles*: equal, falling, Gauss
in the middle, low or high, a *peak* (95 % of the values in a range so wide), *only* (profiles want no other value).""",
    ("distributions",),
    (
        Plot("distribution-values", "TV4: comparisons per event, on a logarithmic axis"),
        Plot(
            "distribution-attributes",
            "TA1 and TA2: comparisons per event by order of attributes, on a logarithmic axis",
        ),
    ),
    (
        ("the profile tree, all orders, early stop (3, 4)", _TREE, _TEST_TREE, SPECIFICATION),
        (
            "measures of one attribute, expected comparisons",
            "sparkrules/local/distribution.py",
            "tests/local/test_distribution.py",
            "`RuleSet.analyze`",
        ),
        (
            "TV1 to TV4, TA1, TA2",
            "benchmarks/papers/distributions.py",
            "tests/benchmarks/test_papers.py",
            "`make papers`",
        ),
    ),
    (
        ("example 3, A2", ".05 and .6", ".106 and .45; the order is the same", _TEST_TREE),
        ("example 3, E(X2 given X1)", ".568", ".3655", _TEST_TREE),
        (
            "example 3, E(X3)",
            ".363 in one order, .702 in another",
            ".359 in both: the last level does not depend on it",
            _TEST_TREE,
        ),
        ("example 4, E(X2)", ".50", ".60", _TEST_TREE),
        (
            "4.3, TA2",
            "the ascending order improves the performance",
            "the descending; ascending is called the worst case before",
            _TEST_TREE,
        ),
    ),
    (
        (
            "What of it the kernel uses: the constants of an attribute cut it into elementary ranges, and a value is "
            "looked up once for all rules, by the search with the fewest expected comparisons: most probable first "
            "(V1), binary, interpolation or hash ([Statistics](statistics.md#how-values-are-looked-up)). It tries V1 "
            "only before another search, and only for the most probable range, so a drift costs one comparison."
        ),
        (
            "Which attribute comes first: where every rule needs something of an attribute that costs nothing to "
            "compute, the program begins with the one whose D0 has the most rows, P_e(D0) of A2, if that is at least "
            "half of them. Below it, predicates that are rarely true and that many rules share come first. The size of "
            "D0, d0 / d of A1 and A2, plays no part: what matters is how many rows are rejected."
        ),
        (
            "V2 and V3 would serve rules with a high priority. The kernel has no use for them: it answers for all "
            "rules of a row at once, and `top => n` compiles rules in bands of their order instead."
        ),
        "A3 has no formula in the paper. Ours is the order that rejects events earliest, summed over the levels.",
    ),
)

PAPERS = (THESIS, ADVERTISEMENTS, PRUNING, EXPENSIVE, DISTRIBUTIONS)

HIGHLIGHTS: tuple[tuple[str, str, str], ...] = (
    (
        "the true value path filter is ahead of the other two, for conjunctions",
        "thesis-5.4",
        "the true value path filter is the fastest of the three",
    ),
    ("and with AND and OR", "thesis-5.5", "the true value path filter outperforms the other two"),
    (
        "Boolean advertisements are ahead of conjunctive ones, for *First* and class S2",
        "advertisements",
        "S2: Boolean First is faster than conjunctive First by this factor",
    ),
    ("advertisement pruning removes memory, all classes", "advertisement-pruning", "all classes: memory removed there"),
    (
        "pruning class 1 to the bend removes two thirds of its predicates",
        "subscription-pruning",
        "class 1: predicates gone there",
    ),
    (
        "Sub-Order is ahead of Sequential, uniform popularity, savings",
        "expensive-predicates",
        "Sub-Order is below Sequential, most rules",
    ),
    (
        "Sequential is ahead of naive, savings",
        "expensive-predicates",
        "Sequential saves against naive, most rules",
    ),
    (
        "V1 is ahead of binary search only while E(X) is small",
        "distributions",
        "V1 is faster than binary search exactly if E(X) < log2(2p - 1)",
    ),
)
"""Question, experiment and claim, for the beginning of the page."""
