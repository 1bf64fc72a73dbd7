"""Spells each text of a JSON list on stdin as Python does, and writes a JSON object of spellings for each."""

import base64
import html
import json
import sys
from urllib.parse import quote, quote_plus, urlencode

for text in json.load(sys.stdin):
    spellings = {
        "python quote": quote(text),
        "python quote_plus": quote_plus(text),
        "python urlencode": urlencode({"user": "ana", "password": text}),
        "python urlencode in json": json.dumps({"body": urlencode({"password": text})}),
        "python quote twice": quote(quote(text, safe=""), safe=""),
        "python json": json.dumps([text]),
        "python json in json": json.dumps({"body": json.dumps([text])}),
        "python escape": html.escape(text),
        "python repr": repr(text),
        "python ascii": ascii(text),
        "python Basic": "Basic " + base64.b64encode(f"ana:{text}".encode()).decode(),
        "python base64 of utf-16": base64.b64encode(f"ana:{text}".encode("utf-16")).decode(),
    }
    sys.stdout.write(json.dumps(spellings) + "\n")
