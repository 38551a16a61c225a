"""The programs and libraries that we are measured beside, in an environment of their own.

The course never imports them. They come on top of the locked versions of the course itself, so
that both sides of a comparison run with the same NumPy and the same Jupyter.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from benchmarks.core import PEERS

LOCK = "requirements-dev.lock"


def python_with_peers(root: Path) -> Path:
    """The Python of build/peers, which is made or renewed where it has to be."""
    folder = root / "build" / "peers"
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = [distribution for _, distribution in PEERS.values()]
    state = hashlib.sha256((root / LOCK).read_bytes() + " ".join(wanted).encode()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == state:
        return python
    print(f"Installing {', '.join(PEERS)} into {folder}; PyTorch is large.", flush=True)
    uv = [sys.executable, "-m", "uv"]
    ours = [
        "--editable",
        str(root),
        "--editable",
        f"{root / 'classroom'}[slides,pdf,cluster,nbgrader]",
    ]
    try:
        if not python.exists():
            subprocess.run([*uv, "venv", "-q", "--python", sys.executable, folder], check=True)
        install = [*uv, "pip", "install", "-q", "--python", python, "-c", root / LOCK]
        subprocess.run([*map(str, install), *ours, *wanted], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"The peers could not be installed: {error}\nRun the same command again to go on.")
    stamp.write_text(state, encoding="utf-8")
    return python
