"""Tests that no secret stands bare in a text that PHP, Go, Java or Python wrote. `spellings/make.py` has asked them."""

import json
import lzma
from collections import defaultdict
from pathlib import Path
from typing import Final

from browser_service.security.concealment import Concealment

SPELLINGS: Final = Path(__file__).parent / "spellings" / "spellings.jsonl.xz"
MOST_REMAINDERS: Final = 30
"""Base64 has some bits of what is beside the secret in one character with the secret's own."""


def test_no_spelling_of_a_program_leaves_anything_of_a_secret() -> None:
    """What remains is the same for all secrets, and so has nothing of any. Backslashes do not count: one at the end of
    a secret may escape what follows, and Python's quotes are of either kind."""
    remainders: dict[str, set[str]] = defaultdict(set)
    with lzma.open(SPELLINGS, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            text = row.pop("text")
            hides = Concealment([("pw", text)])
            for name, spelling in row.items():
                remainders[name].add(hides.text(spelling).replace("\\", "").replace("'", '"'))
    assert len(remainders) >= 30
    for name, shown in remainders.items():
        assert all("«secret:pw»" in each for each in shown), name
        assert len(shown) <= (MOST_REMAINDERS if "base64" in name or "Basic" in name else 1), (name, shown)
