"""Warnings and floating-point errors that become exceptions, or are looked for: refused by check, rewrite, convert and trace."""

import contextlib
import importlib
import warnings

import np2fx
import numpy as np
import pytest
import torch

X = np.array([1.0, 2.0])
HEAD = "import warnings\nimport numpy as np\nimport np2fx\n"
REFUSED = {
    "warnings as errors": ("", "    with warnings.catch_warnings():\n        warnings.simplefilter('error')\n        return x / 2\n", 7),
    "an action that is not known": ("MODE = 'error'\n", "    warnings.filterwarnings(MODE)\n    return x / 2\n", 7),
    "caught": ("", "    try:\n        return x / 2\n    except (ValueError, RuntimeWarning):\n        return x\n", 8),
    "caught error": ("", "    try:\n        return x / 2\n    except FloatingPointError as e:\n        raise ValueError from e\n", 8),
    "at the top": ("np.seterr(divide='raise')\n", "    return x / 2\n", 4),
    "at the top, under a condition": ("if np.pi > 3:\n    np.seterr(all='call')\n", "    return x / 2\n", 5),
    "a filter at the top": ("from warnings import filterwarnings as told\ntold('error', category=Warning)\n", "    return x / 2\n", 5),
    "recorded": ("", "    with warnings.catch_warnings(record=True) as w:\n        y = x / 2\n    return y * len(w)\n", 6),
    "recorded in a helper": (
        "def h(x):\n    with warnings.catch_warnings(record=True) as w:\n        return x / len(w)\n",
        "    return h(x)\n",
        5,
    ),
    "errstate": ("", "    with np.errstate(divide='raise'):\n        return x / 2\n", 6),
    "decorated": ("@np.errstate(all='raise')\n", "    return x / 2\n", None),
}
FREE = {
    "ignored": ("", "    with warnings.catch_warnings():\n        warnings.simplefilter('ignore')\n        return x / 2\n"),
    "other warnings": ("warnings.filterwarnings('error', category=DeprecationWarning)\n", "    return x / 2\n"),
    "silent": ("np.seterr(all='ignore')\n", "    with np.errstate(divide='ignore', invalid='warn'):\n        return x / 2\n"),
    "elsewhere": ("def other():\n    np.seterr(all='raise')\n", "    return x / 2\n"),
}


def module_of(top, body, name, tmp_path, monkeypatch):
    text = f"{HEAD}{top}@np2fx.node\ndef f(x):\n{body}" if not top.startswith("@") else f"{HEAD}@np2fx.node\n{top}def f(x):\n{body}"
    name = "alarming_" + "".join(c if c.isalnum() else "_" for c in name)
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return text, importlib.import_module(name)


@contextlib.contextmanager
def settings_kept():
    with warnings.catch_warnings(), np.errstate():
        yield


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path, monkeypatch):
    top, body, line = REFUSED[name]
    with settings_kept():
        text, module = module_of(top, body, name, tmp_path, monkeypatch)
        function = module.f
        with pytest.raises(np2fx.TraceError) as traced:
            np2fx.trace(function, X)
        if name == "decorated":  # NumPy's own context is entered around a function that computes as NumPy does
            np.testing.assert_array_equal(np2fx.convert(function)(torch.from_numpy(X)), function(X))
        else:
            with pytest.raises(np2fx.ConversionError) as converted:
                np2fx.convert(function)(torch.from_numpy(X))
            assert converted.value.findings[0].name in ("side-effect", "opaque-call")
    assert traced.value.findings[0].name in ("side-effect", "leaked-constant")
    found = [f for f in np2fx.check_source(text) if f.name == "side-effect" and f.severity == "error"]
    assert found and line in (None, found[0].line)
    new, findings = np2fx.rewrite_source(text)
    assert new == text and any(f.name == "side-effect" and f.severity == "error" for f in findings)


@pytest.mark.parametrize("name", FREE)
def test_not_refused(name, tmp_path, monkeypatch):
    with settings_kept():
        text, module = module_of(*FREE[name], name, tmp_path, monkeypatch)
        for made in (np2fx.trace(module.f, X), np2fx.convert(module.f)):
            np.testing.assert_array_equal(made(torch.from_numpy(X)), X / 2)
    assert not [f for f in np2fx.check_source(text) if f.severity == "error"]
    assert np2fx.rewrite_source(text)[0] != text


def test_whoever_has_numpy_raise_is_told():
    def f(x):
        return x / 2

    with np.errstate(over="raise"):
        for make in (lambda: np2fx.trace(f, X), lambda: np2fx.convert(f)(torch.from_numpy(X))):
            with pytest.raises((np2fx.TraceError, np2fx.ConversionError), match="floating-point errors raise"):
                make()
