"""NumPy's random numbers: no graph can draw them, so all are refused."""

from __future__ import annotations

from ..semantics.table import refuse

_NAMES = (
    "beta binomial bytes chisquare choice default_rng dirichlet exponential f gamma geometric get_bit_generator "
    "get_state gumbel hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal "
    "negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power rand randint randn "
    "random random_integers random_sample ranf rayleigh sample seed set_bit_generator set_state shuffle "
    "standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises "
    "wald weibull zipf"
)

for _name in _NAMES.split():
    refuse(f"numpy.random.{_name}",
           reason="a graph would repeat the numbers drawn while it was made, and torch's generator gives others for the same seed",
           hint="draw outside the node and pass the numbers in", finding="random")  # fmt: skip
