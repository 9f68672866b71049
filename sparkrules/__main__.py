"""`python -m sparkrules`."""

import sys

from sparkrules.cli import main

sys.exit(main())
