"""Rules for other libraries, opt-in: `[tool.np2fx] rules = ["np2fx.contrib.scipy_rules"]`, or `np2fx.use_rules(...)`.

They are also worked examples of how a project writes rules of its own (docs/own-rules.md).
"""
