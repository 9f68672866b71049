"""How expressions relate to each other and to the columns of a table.

| to | use |
|---|---|
| decide whether expressions overlap | `exact_overlap.overlap` -> `Overlap`; `OverlapIndex`; `Regions`, `Enumeration` |
| decide how expressions relate | the functions of `relations`; `Coverings` |
| estimate for how many rows expressions are true | `Selectivity`; `forest_selectivity.node_estimates` |
| make expressions more general | `pruning.Prunings`, `overlapping_rank`, `replacement` |
| find a small condition that all rules imply | `implied_filter` |
| resolve the column of an attribute and what a predicate compares | `columns`, `comparison` |

Claims only what is certain. Needs no Spark session.
"""

from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.logic.attribute_type import Enumeration
from sparkrules.logic.covering import Coverings
from sparkrules.logic.exact_overlap import Overlap
from sparkrules.logic.regions import Regions
from sparkrules.logic.selectivity import Selectivity

__all__ = ["Coverings", "Enumeration", "Overlap", "OverlapIndex", "Regions", "Selectivity"]
