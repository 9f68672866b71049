"""What expressions mean to each other, and to the columns of a table.

| to | use |
|---|---|
| say whether expressions overlap | `exact_overlap.overlap` -> `Overlap`; `OverlapIndex`; `Regions`, `Enumeration` |
| say how expressions relate | the functions of `relations`; `Coverings` |
| say which column an attribute names, and what a predicate compares | `columns`, `comparison` |

Never says more than is certain; knows no Spark session.
"""

from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.logic.attribute_type import Enumeration
from sparkrules.logic.covering import Coverings
from sparkrules.logic.exact_overlap import Overlap
from sparkrules.logic.regions import Regions

__all__ = ["Coverings", "Enumeration", "Overlap", "OverlapIndex", "Regions"]
