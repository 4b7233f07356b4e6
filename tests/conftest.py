"""What all tests share: Hypothesis profiles and quiet NumPy.

`dev` is quick, `ci` tries more and is the same on every run. `NP2FX_EXAMPLES=200` overrides the number of examples of either.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: the arrays of tests are small

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
_EXAMPLES = os.environ.get("NP2FX_EXAMPLES")

settings.register_profile("dev", max_examples=int(_EXAMPLES or 10), **_COMMON)
settings.register_profile("ci", max_examples=int(_EXAMPLES or 50), **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))
