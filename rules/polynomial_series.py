"""The functions of numpy.polynomial that have no rule: series are evaluated in torch, their coefficients computed outside."""

from __future__ import annotations

from ..semantics.table import refuse

_EVERY = "add companion der div fit fromroots grid2d grid3d int line mul mulx pow roots sub trim val2d val3d vander vander2d vander3d"
_MODULES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "laguerre": "lag",
    "hermite": "herm",
    "hermite_e": "herme",
}
_MORE = (
    "polynomial.polyvalfromroots chebyshev.chebinterpolate chebyshev.chebpts1 chebyshev.chebpts2 laguerre.lagval hermite.hermval "
    "hermite_e.hermeval"
)
_ORTHOGONAL = {
    "chebyshev": "cheb",
    "legendre": "leg",
    "laguerre": "lag",
    "hermite": "herm",
    "hermite_e": "herme",
}

for _name in [
    *[f"{module}.{short}{n}" for module, short in _MODULES.items() for n in _EVERY.split()],
    *[f"{module}.{n}" for module, s in _ORTHOGONAL.items() for n in [f"{s}gauss", f"{s}weight", f"{s}2poly", f"poly2{s}"]],
    *_MORE.split(),
]:
    refuse(f"numpy.polynomial.{_name}",
           reason="of the functions on series, only polyval, chebval and legval have a rule",
           hint="compute the coefficients outside the node; for powers, np.polyadd and the like take the highest power first")  # fmt: skip
refuse("numpy.polynomial.set_default_printstyle", reason="it is a setting of how polynomials are printed", hint="call it outside the node",
       finding="side-effect")  # fmt: skip
for _name in ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"]:
    refuse(f"numpy.polynomial.{_name}", reason="it is a Python object that holds a polynomial, not a function of arrays",
           hint="use np.polyval on the coefficients, or numpy.polynomial's polyval, chebval, legval")  # fmt: skip
