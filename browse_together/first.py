"""Puts our packages before others of their names, when a command imports it.

PYTHONPATH or the current directory may have packages named `shared` and `client` too. It imports next to nothing,
because a gateway answers its host before it imports the rest."""

import os
import sys

sys.path.insert(0, __file__.rpartition(os.sep)[0].rpartition(os.sep)[0])
