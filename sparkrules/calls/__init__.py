"""What `CALL sparkrules.x(...)` asks of Python: the plugin starts this as a program, so that there is one parser.

Contract: lines of JSON. The plugin writes the call on stdin: `procedure`, `store`, `arguments` by name. The answer, on
stdout, is a line with `result` or `error`. Before it, a procedure may ask the plugin for what only Spark knows:

| line | the plugin answers |
|---|---|
| `{"columns": [...]}` | with a line for each row of the table, as an object, and an empty line |
| `{"predicates": [...]}` | with a line: for each of these SQL expressions, whether it is true for the row |

No text of a call is an argument of a command or reaches a shell, and no second Spark is started.
"""

from sparkrules.calls.exchange import main

__all__ = ["main"]
