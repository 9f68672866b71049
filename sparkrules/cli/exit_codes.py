"""How a command ends, in one place.

| code | means |
|---|---|
| 0 | done |
| 1 | failed, with the reason on stderr; `lint`: there are findings; `doctor`: something is broken |
| 2 | wrong usage; `lint`: it could not be done, so that CI can tell that from findings |
| 3 | done, but some rules of the file were set aside |
| 130 | stopped by Ctrl-C |
"""

from __future__ import annotations

DONE, FAILED, WRONG_USAGE, SOME_SET_ASIDE, STOPPED = 0, 1, 2, 3, 130

SUMMARY = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done, but some rules were set aside, 130 stopped."
