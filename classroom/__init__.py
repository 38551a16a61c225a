"""For instructors: executing, releasing, showing and grading notebooks.

Nothing a student imports reaches this.
"""

import sys
from typing import Any, cast

__machine__ = True  # what it does with NumPy is not counted

# nbformat checks notebooks with jsonschema, which would spend a second on building a grammar of web
# addresses. No notebook is checked for those; without the package jsonschema leaves that check out.
cast(dict[str, Any], sys.modules).setdefault("rfc3987_syntax", None)
