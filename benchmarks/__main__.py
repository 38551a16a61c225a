"""Run the benchmarks, all or by name: python -m benchmarks [meter checks …]."""

import runpy
import sys
from pathlib import Path

names = sys.argv[1:] or sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
for name in names:
    print(f"== {name}", flush=True)
    sys.argv = [name]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
