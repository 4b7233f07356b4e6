"""Planted faults: what a wrong rule or a wrong graph would do, to see that `np2fx.verify` catches it.

    python -m tests.mutants [--limit N]

Two kinds of faults are planted. In graphs: each node of a traced graph is changed in the ways in which tracers go wrong (wrong axis,
dropped cast, baked constant, swapped operands, lost write, ...). In rules: each constant, comparison and operator of a rule's body is
changed likewise, and nodes made of the rule's examples are traced with it. A fault that changes no answer on many inputs of its own
is no fault (the operands of a sum were swapped, say) and does not count.
"""
