"""How a command ends, in one place.

| code | means |
|---|---|
| 0 | done |
| 1 | failed, with the reason on stderr; `lint`: there are findings; `test`: a test does not pass; `doctor`: broken |
| 2 | wrong usage; `lint` and `test`: they could not run, so that CI can tell this from what they find |
| 3 | done, but some rules of the file were rejected |
| 130 | stopped by Ctrl-C |
"""

from __future__ import annotations

DONE, FAILED, WRONG_USAGE, SOME_REJECTED, STOPPED = 0, 1, 2, 3, 130

SUMMARY = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done, but some rules were rejected, 130 stopped."
