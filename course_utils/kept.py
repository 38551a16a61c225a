"""What lectures train, as notebooks import it: in a browser it comes from data/trained.npz."""

from pathlib import Path

from selfcheck.trained import Trained

__all__ = ["trained"]

trained = Trained(Path(__file__).parent / "data" / "trained.npz")
