"""`python -m sparkrules.cli`."""

import sys

from sparkrules.cli import main

sys.exit(main())
