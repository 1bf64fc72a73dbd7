"""Starts the commands with our own packages first.

Others have packages named `shared` and `client` too, and PYTHONPATH or the current directory would bring theirs.
Whoever imports this package, whose name is ours alone, gets the directory that it stands in before all others.
"""

import os
import sys

sys.path.insert(0, __path__[0].rpartition(os.sep)[0])
