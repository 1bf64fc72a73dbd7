"""Starts the commands with our own packages first.

Others have packages named `shared` and `client` too, and PYTHONPATH or the current directory would find theirs. Only we
have a package of this name; importing it puts its parent directory before all others."""

import os
import sys

sys.path.insert(0, __path__[0].rpartition(os.sep)[0])
