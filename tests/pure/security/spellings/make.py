"""Makes `spellings.jsonl.xz`: passwords, and how PHP, Go, Java and Python spell them. Needs `php`, `go` and `java`.

Each line is a JSON object: the password under `text`, and each spelling under the name of the program's function.
"""

import json
import lzma
import random
import string
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
WORDS = string.ascii_letters + string.digits
ALPHABETS = (WORDS + "-_.!*@" * 3, WORDS + string.punctuation, WORDS + " " * 9 + "-+&%", WORDS + "äöüßÄÖÜé" * 3)
EACH = int(sys.argv[1])


def _texts() -> list[str]:
    chance, made = random.Random(27), list[str]()  # noqa: S311 - always the same ones, for tests
    while len(made) < EACH * len(ALPHABETS):
        alphabet = ALPHABETS[len(made) % len(ALPHABETS)]
        text = "".join(chance.choices(alphabet, k=chance.randint(8, 16)))
        if text == " ".join(text.split()) and not set(text) <= set(WORDS):
            made.append(text)
    return made


def _run(given: str, *command: str) -> str:
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True, cwd=HERE).stdout


def main() -> None:
    texts = _texts()
    given = json.dumps(texts)
    rows = [{"text": text} for text in texts]
    for command in (("php", "spell.php"), ("go", "run", "spell.go"), (sys.executable, "spell.py")):
        for row, line in zip(rows, _run(given, *command).splitlines(), strict=True):
            row.update(json.loads(line))
    blocks = _run("\n".join(texts) + "\n", "java", "Spell.java").strip("\n").split("\n\n")
    for row, block in zip(rows, blocks, strict=True):
        row.update({name: text for name, _, text in (line.partition("\t") for line in block.split("\n"))})
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (HERE / "spellings.jsonl.xz").write_bytes(lzma.compress(lines.encode(), preset=9))


main()
