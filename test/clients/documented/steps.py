"""
The steps of steps.js without a client, through plain HTTP and Python's own library:
`python3 steps.py BASE_URL KEY MODEL`. Prints one line of JSON for each step: {step, outcome, words}.
"""
import json
import re

from kit import Refused, refusals, steps

import answers, state, tools  # noqa: E401, F401

for name, run in steps.items():
    words = refusals[name]
    outcome = "works" if words == "" else "fails"
    told = "" if words == "" else "was taken"
    try:
        run()
    except Refused as error:
        is_refusal = words != "" and error.status in (400, 409)
        outcome, told = ("refused", words) if is_refusal else ("fails", str(error))
    except Exception as error:
        outcome, told = "fails", re.sub(r"\s+", " ", repr(error))
    print(json.dumps({"step": name, "outcome": outcome, "words": told}, ensure_ascii=False), flush=True)
