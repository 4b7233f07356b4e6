"""The one graph of all ways through a function: results are chosen by `torch.where`, or one side is run alone by `torch.cond`.

`branches` lays the nodes of all ways into one graph and notes for each which ways have it. Here they go to their places. Where both
sides of a branch can be computed without harm, they stand side by side and `torch.where` chooses. Where something stands on some ways
only that may fail (`Plan.apart`), the branch is a `torch.cond`: each side is a graph of its own, and a block here. What all ways after a
condition have is computed before it; whatever else a side reads is passed in, constants too. Views are copied on the way in, and all
results on the way out, as `torch.cond` lets nothing share memory.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from .risks import must_stay

if TYPE_CHECKING:
    from .branches import Way

Answers = tuple[bool, ...]


@dataclass
class Plan:
    """All ways in one graph, in which nothing is chosen yet.

    ways        the ways, in order
    graph       the nodes of all ways
    users       for each of them the ways that have it
    conditions  what is asked after each series of answers
    apart       the answers after which the two sides must not both be computed
    assertions  the conditions that must hold, with their messages -> the ways on which they must
    outputs     what each recorded way gives
    true        a constant"""

    ways: list[Way]
    graph: fx.Graph
    users: dict[fx.Node, set[int]]
    conditions: dict[Answers, fx.Node]
    apart: set[Answers]
    assertions: dict[tuple[fx.Node, str], set[int]]
    outputs: dict[int, list[fx.Node]]
    true: fx.Node

    def split(self, answers: Answers, ways: list[int]) -> tuple[list[int], list[int]]:
        """The ways that go on with True after `answers`, and those that go on with False."""
        yes = [w for w in ways if self.ways[w].answers[len(answers)]]
        return yes, [w for w in ways if w not in yes]


def decisions_about(node_ways: set[int], ways: list[Way]) -> set[Answers]:
    """The answers after which some of the recorded ways have a node and others don't."""
    after: dict[Answers, set[int]] = {}
    for number, way in enumerate(ways):
        for length in range(len(way.answers) if way.recording is not None else 0):
            after.setdefault(way.answers[:length], set()).add(number)
    return {answers for answers, all_of_them in after.items() if node_ways & all_of_them and not node_ways >= all_of_them}


class Block:
    """A graph that is being made: the whole one, or one side of a condition. `begin` are the answers that lead into it."""

    def __init__(self, plan: Plan, root: torch.nn.Module, begin: Answers = (), condition: _Condition | None = None) -> None:
        self.plan, self.root, self.begin, self.condition = plan, root, begin, condition
        self.graph = fx.Graph()
        self.places: dict[fx.Node, fx.Node] = {}
        self.asserted: set[tuple[fx.Node, str]] = set()
        self.passed: fx.Node | None = None

    def of(self, node: fx.Node) -> fx.Node:
        """What stands for a node of the plan here. It is passed in where it is computed outside."""
        if node not in self.places:
            if "graph" in node.meta:  # a graph within the graph is not passed in
                self.root.add_module(str(node.target), node.meta["graph"])
                self.places[node] = self.graph.node_copy(node)
                return self.places[node]
            if "size" in node.meta and self.condition is not None:  # an int: each side asks for it again
                self.places[node] = self.graph.node_copy(node, self.of)
                return self.places[node]
            if self.condition is None:
                raise AssertionError(f"{node} is used before it is computed")
            self.condition.pass_in(node)
        return self.places[node]

    def sees(self, node: fx.Node) -> bool:
        """Whether a node of the plan is computed here or outside."""
        return node in self.places or (self.condition is not None and self.condition.outer.sees(node))

    def asserts(self, assertion: tuple[fx.Node, str]) -> bool:
        """Whether an assertion is made here or outside."""
        return assertion in self.asserted or (self.condition is not None and self.condition.outer.asserts(assertion))

    def call(self, function: Any, *args: Any) -> fx.Node:
        return self.graph.call_function(function, args)

    def join(self, answers: Answers, ways: list[int]) -> list[fx.Node] | None:
        """What the function gives after `answers`, where one of `ways` is taken, which all begin so. None where all of these raise."""
        recorded = {w for w in ways if w in self.plan.outputs}
        if not recorded:
            return None
        is_apart = answers in self.plan.apart
        self.lay(recorded, is_apart)
        for assertion, holds_on in self.plan.assertions.items():
            if holds_on & recorded and not self.asserts(assertion) and (holds_on >= recorded or not is_apart):
                self.assert_on(holds_on, answers, ways, assertion)
        return self.one_side_alone(answers, ways) if is_apart else self.chosen(answers, ways)

    def lay(self, ways: set[int], common_only: bool) -> None:
        """Put down what these ways compute; only what all of them do where each side is to be a graph of its own."""
        for node in self.plan.graph.nodes:
            users = self.plan.users.get(node, set())
            wanted = users >= ways if common_only else bool(users & ways)
            if (wanted or node.op in ("placeholder", "get_attr")) and "graph" not in node.meta and not self.sees(node):
                self.places[node] = self.graph.node_copy(node, self.of)

    def chosen(self, answers: Answers, ways: list[int]) -> list[fx.Node] | None:
        """The results of the ways, chosen by the conditions.

        Where one side raises, the graph asserts that it is not taken and goes on with the other."""
        if len(ways) == 1:
            return [self.of(n) for n in self.plan.outputs[ways[0]]] if ways[0] in self.plan.outputs else None
        sides = self.plan.split(answers, ways)
        yes, no = (self.chosen((*answers, answer), side) for answer, side in zip((True, False), sides, strict=True))
        if yes is None and no is None:
            return None
        if yes is not None and no is not None:
            condition = self.of(self.plan.conditions[answers])
            return [a if a is b else self.call(torch.where, condition, a, b) for a, b in zip(yes, no, strict=True)]
        self.assert_not_taken(answers, yes is None, sides[yes is not None])
        return yes or no

    def one_side_alone(self, answers: Answers, ways: list[int]) -> list[fx.Node] | None:
        """The results of the ways, of which only those are computed that the next condition leads to."""
        outputs = self.plan.outputs
        sides = self.plan.split(answers, ways)
        raises = [not any(w in outputs for w in side) for side in sides]
        if any(raises):
            self.assert_not_taken(answers, raises[0], sides[raises[1]])
            return self.join((*answers, raises[1]), sides[raises[0]])
        condition = _Condition(self, answers)
        inner = [block.join(block.begin, side) for block, side in zip(condition.sides, sides, strict=True)]
        first, *others = [outputs[w] for w in ways if w in outputs]
        differing = [i for i, n in enumerate(first) if any(o[i] is not n for o in others)]
        made = condition.close([[results[i] for i in differing] for results in inner if results is not None])
        parts = dict(zip(differing, made, strict=True))
        return [parts[i] if i in parts else self.of(n) for i, n in enumerate(first)]

    # Assertions

    def assert_not_taken(self, answers: Answers, answer: bool, ways: list[int]) -> None:
        """The graph fails where the function raises: never `answer` after `answers`."""
        fine = self.of(self.plan.conditions[answers])
        if answer:
            fine = self.call(torch.logical_not, fine)
        for n in range(len(self.begin), len(answers)):
            reached = self.of(self.plan.conditions[answers[:n]])
            missed = self.call(torch.logical_not, reached) if answers[n] else reached
            fine = self.call(torch.logical_or, missed, fine)
        self.call(torch._assert_async, fine, next(self.plan.ways[w].raised for w in ways))

    def assert_on(self, holds_on: set[int], answers: Answers, ways: list[int], assertion: tuple[fx.Node, str]) -> None:
        """An assertion that stands on some of the ways alone."""
        fine = self.of(assertion[0])
        reached = self.is_one_of(holds_on, answers, ways)
        if isinstance(reached, fx.Node):
            fine = self.call(torch.logical_or, fine, self.call(torch.logical_not, reached))
        self.call(torch._assert_async, fine, assertion[1])
        self.asserted.add(assertion)

    def is_one_of(self, chosen: set[int], answers: Answers, ways: list[int]) -> fx.Node | bool:
        """Whether the way that is taken, one of `ways`, which all begin with `answers`, is one of `chosen`."""
        recorded = {w for w in ways if w in self.plan.outputs}
        if not recorded & chosen or recorded <= chosen:  # after a way that raises nothing else counts
            return bool(recorded & chosen)
        condition = self.of(self.plan.conditions[answers])
        sides = [self.is_one_of(chosen, (*answers, answer), side)
                 for answer, side in zip((True, False), self.plan.split(answers, ways), strict=True)]  # fmt: skip
        other = self.call(torch.logical_not, condition)
        parts = [c if side is True else self.call(torch.logical_and, c, side)
                 for c, side in zip((condition, other), sides, strict=True) if side is not False]  # fmt: skip
        return parts[0] if len(parts) == 1 else self.call(torch.logical_or, *parts)


class _Condition:
    """A `torch.cond` that is being made, in the block `outer`: its two sides, and what is passed to both."""

    def __init__(self, outer: Block, answers: Answers) -> None:
        self.outer = outer
        self.node = outer.plan.conditions[answers]
        self.operands: list[fx.Node] = []
        self.sides = [Block(outer.plan, torch.nn.Module(), (*answers, answer), self) for answer in (True, False)]

    def pass_in(self, node: fx.Node) -> None:
        """Let both sides have a node of the plan that is computed outside."""
        self.outer.of(node)
        self.operands.append(node)
        for side in self.sides:
            with side.graph.inserting_after(side.passed):  # type: ignore[arg-type]  # None: at the beginning
                side.passed = side.places[node] = side.graph.placeholder(node.name)

    def close(self, results: list[list[fx.Node]]) -> list[fx.Node]:
        """What the condition gives, as nodes of the block outside. `results` are those of the sides."""
        plan, outer = self.outer.plan, self.outer
        checks = (n for side in self.sides for n in side.graph.nodes if n.target is torch._assert_async or must_stay(n))
        is_check = not results[0] and any(True for _ in checks)
        if is_check:  # what nobody reads is not run
            results = [[side.of(plan.true)] for side in self.sides]
        if not results[0]:
            return []
        for side, found in zip(self.sides, results, strict=True):
            copies = [side.graph.call_function(torch.clone, (n,), {"memory_format": torch.contiguous_format}) for n in found]
            side.graph.output(tuple(copies))
            side.graph.eliminate_dead_code(lambda n: n.is_impure() or must_stay(n))
        self._leave_out_unread()
        number = sum(name.startswith("true_graph") for name, _ in outer.root.named_children())
        graphs = []
        for side, name in zip(self.sides, ("true", "false"), strict=True):
            side.graph.lint()
            outer.root.add_module(f"{name}_graph_{number}", fx.GraphModule(side.root, side.graph, f"{name.title()}Graph"))
            graphs.append(outer.graph.create_node("get_attr", f"{name}_graph_{number}", (), {}))
        operands = tuple(self._apart(n) for n in self.operands)
        made = outer.call(torch.ops.higher_order.cond, outer.of(self.node), *graphs, operands)
        made.meta.update({k: v for k, v in self.node.meta.items() if k in ("source", "stack_trace")})
        parts = [outer.call(operator.getitem, made, i) for i in range(len(results[0]))]
        if is_check:
            outer.call(torch._assert_async, parts.pop(), "a check on one of the ways")
        return parts

    def _apart(self, node: fx.Node) -> fx.Node:
        """An operand in memory of its own."""
        place = self.outer.of(node)
        return self.outer.call(torch.clone, place) if node.meta.get("view") and place.op != "placeholder" else place

    def _leave_out_unread(self) -> None:
        for node in list(self.operands):
            places = [side.places[node] for side in self.sides]
            if not any(p.users for p in places):
                self.operands.remove(node)
                for side, place in zip(self.sides, places, strict=True):
                    side.graph.erase_node(place)
