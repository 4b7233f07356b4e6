"""PipelineError: why a pipeline cannot be compiled, or a directory not be loaded."""

from __future__ import annotations

from ...source.findings.finding import Finding, format_finding, make_finding


class PipelineError(Exception):
    """A pipeline that np2fx will not make artefacts of; `findings` says where, why and what to do instead."""

    def __init__(self, *findings: Finding) -> None:
        self.findings = list(findings)
        super().__init__("\n".join(format_finding(f) for f in self.findings) or "not compiled")


def refused(name: str, message: str, hint: str, place: tuple[str, int] = ("", 0)) -> PipelineError:
    """A PipelineError of one finding."""
    return PipelineError(make_finding(name, path=place[0], line=place[1], message=message, hint=hint, severity="error"))
