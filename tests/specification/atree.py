"""The dynamic A-Tree of Jewel's thesis (2004, chapter 3): a small executable specification, not the fast path.

Contract: one forest of *binary* nodes holds all subscriptions; equal subexpressions are one node; a subscription is
the set of ids listed at the node that stands for its whole expression. After any sequence of `insert` and `delete`

- `level(leaf) = 1`, `level(node) = 1 + max(level of its children)`, and no level below the highest is empty
  (theorem 1, corollary 1);
- `use_count(node)` is the number of subscriptions whose tree contains the node, so `use_count(parent) <=
  use_count(child)` (theorem 2) and a node is removed exactly when no subscription uses it;
- every inner node has its two children (theorem 3).

Where the thesis leaves a choice:

- A node reached twice inside one subscription counts *once*. Algorithms 5 and 8 would count it per path; counting
  subscriptions keeps the definition of 3.3.1 and makes `delete` the exact inverse of `insert`.
- `A xor A` is a node whose two children are the same leaf. The leaf then lists that parent twice and touches it
  twice, so the filters need no special case. Repeated operands of AND and OR are dropped.
- Nodes are found through a dictionary, not by intersecting parent lists (3.8 discusses both).
- Constants (an AND or OR of nothing) have no node in the thesis and are rejected.
- An inner node may have a user's function instead of an operator (3.3.1), of any number of children. Nothing is known
  about it, so its children stay in the order in which they are written. AND, OR and XOR are commutative and
  associative, and are rearranged.
- In 3.6.2 the recurrence's cost is that of joining T(i, k) and T(k + 1, j) with i <= k < j, not i < k < j, T(1, k) and
  T(k + 1, n) as printed; in algorithm 6, i is to be incremented.

>>> a, b, c = (Predicate(name, "is true") for name in "ABC")
>>> forest = ATree()
>>> forest.insert("S1", Junction("and", (a, b)))
>>> forest.insert("S2", Junction("and", (c, b, a)))
>>> [(str(node), node.use_count) for node in forest.nodes() if node.children]
[('(A is true and B is true)', 2), ('((A is true and B is true) and C is true)', 1)]
>>> forest.delete("S1"); forest.delete("S2"); list(forest.nodes())
[]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from sparkrules.sql.tree import Junction, Predicate


@dataclass(frozen=True, slots=True)
class Function:
    """A user's Boolean function of the values of a node's children. Equal names mean the same function."""

    name: str
    of: Callable[..., bool] = field(compare=False)

    def __str__(self) -> str:
        return self.name


Operator = Literal["and", "or", "xor"] | Function


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator over expressions; unlike a `Junction` it may be XOR or a function, and may contain one."""

    operator: Operator
    children: tuple[Expression, ...]


Expression = Predicate | Junction | Operation


@dataclass(eq=False, slots=True)
class ATreeNode:
    """A node of the forest (figure 3.3): a leaf has a predicate, an inner node an operator and two children."""

    predicate: Predicate | None
    operator: Operator | None
    children: tuple[ATreeNode, ...]
    level: int
    use_count: int = 0
    parents: list[ATreeNode] = field(default_factory=list)
    subscriptions: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        if self.predicate is not None:
            return str(self.predicate)
        if isinstance(self.operator, Function):
            return f"{self.operator}({', '.join(map(str, self.children))})"
        return f"({f' {self.operator} '.join(map(str, self.children))})"

    def result(self, *operands: bool) -> bool:
        """The value of an inner node, given those of its children in their order (execute_function)."""
        if isinstance(self.operator, Function):
            return bool(self.operator.of(*operands))
        first, second = operands
        if self.operator == "and":
            return first and second
        return first or second if self.operator == "or" else first != second

    @property
    def is_true_from_nothing(self) -> bool:
        """Whether it is true when all its children are false, as NOT, NAND and NOR are."""
        return self.predicate is None and self.result(*(False for _ in self.children))


class ATree:
    """The forest, with the thesis' two tables: predicate to leaf (PT) and subscription to root (ST)."""

    def __init__(self) -> None:
        self.leaves: dict[Predicate, ATreeNode] = {}
        self.roots: dict[str, ATreeNode] = {}
        self._inner: dict[object, ATreeNode] = {}

    def nodes(self) -> Iterator[ATreeNode]:
        """All nodes, leaves first."""
        yield from self.leaves.values()
        yield from self._inner.values()

    # Maintenance (3.6)

    def insert(self, subscription: str, expression: Expression) -> None:
        """Add a subscription, in the arrangement that creates the fewest nodes (algorithms 6 to 8)."""
        if subscription in self.roots:
            raise ValueError(f"the A-Tree already has a subscription {subscription!r}")
        self.subscribe(subscription, self._place(_canonical(expression)))

    def delete(self, subscription: str) -> None:
        """Remove a subscription and every node that only it used (algorithms 4 and 5)."""
        root = self.roots.pop(subscription)
        root.subscriptions.remove(subscription)
        for node in tree_of(root):
            node.use_count -= 1
            if node.use_count == 0:
                self._remove(node)

    def leaf(self, predicate: Predicate) -> ATreeNode:
        """The leaf of a predicate, found or made."""
        return self.leaves.setdefault(predicate, ATreeNode(predicate, None, (), level=1))

    def node(self, operator: Operator, *children: ATreeNode) -> ATreeNode:
        """The inner node that joins nodes of the forest, two unless it is a function, found or made."""
        key = _key(operator, children)
        if key not in self._inner:
            made = ATreeNode(None, operator, children, level=1 + max(child.level for child in children))
            for child in made.children:
                child.parents.append(made)
            self._inner[key] = made
        return self._inner[key]

    def subscribe(self, subscription: str, root: ATreeNode) -> None:
        """Let a node of the forest be the root of a new subscription."""
        root.subscriptions.add(subscription)
        self.roots[subscription] = root
        for node in tree_of(root):
            node.use_count += 1

    def _remove(self, node: ATreeNode) -> None:
        if node.predicate is not None:
            del self.leaves[node.predicate]
        elif node.operator is not None:
            del self._inner[_key(node.operator, node.children)]
            for child in node.children:
                child.parents.remove(node)

    def _place(self, expression: Predicate | _Chain) -> ATreeNode:
        if isinstance(expression, Predicate):
            return self.leaf(expression)
        operands = [self._place(operand) for operand in expression.operands]
        if isinstance(expression.operator, Function):
            return self.node(expression.operator, *operands)
        return self._rearrange(expression.operator, operands)

    def _rearrange(self, operator: Operator, operands: list[ATreeNode]) -> ATreeNode:
        """Rearrange_Subtree (algorithm 6): join a chain's operands so that most existing nodes are reused.

        `best[i, j]` is the cheapest arrangement of operands i to j: how many nodes it would add, where it splits, and
        its root if that exists already. Among equals the split furthest right wins, `((a b) c) d`, so that chains
        with a common beginning share it.
        """
        best: dict[tuple[int, int], tuple[int, int, ATreeNode | None]] = {
            (i, i): (0, i, operand) for i, operand in enumerate(operands)
        }
        for length in range(1, len(operands)):
            for i in range(len(operands) - length):
                j = i + length
                candidates = []
                for k in range(i, j):
                    left_cost, _, left = best[i, k]
                    right_cost, _, right = best[k + 1, j]
                    root = self._inner.get(_key(operator, (left, right))) if left and right else None
                    candidates.append((left_cost + right_cost + (root is None), -k, root))
                cost, split, root = min(candidates, key=lambda candidate: candidate[:2])
                best[i, j] = cost, -split, root

        def build(i: int, j: int) -> ATreeNode:
            _, k, root = best[i, j]
            return root or self.node(operator, build(i, k), build(k + 1, j))

        return build(0, len(operands) - 1)

    def check(self) -> None:
        """Raise AssertionError unless the invariants of 3.7 hold."""
        users: dict[ATreeNode, set[str]] = {}
        for subscription, root in self.roots.items():
            assert subscription in root.subscriptions, f"{subscription} is not listed at its root"
            for node in tree_of(root):
                users.setdefault(node, set()).add(subscription)
        nodes = list(self.nodes())
        assert users.keys() == set(nodes), "the forest is not exactly what its subscriptions use"
        for node in nodes:
            assert node.use_count == len(users[node]), f"use count of {node}"
            assert node.level == 1 + max((child.level for child in node.children), default=0), f"level of {node}"
            if not isinstance(node.operator, Function):
                assert len(node.children) == (0 if node.predicate else 2), f"children of {node}"
            assert {self.roots[subscription] for subscription in node.subscriptions} <= {node}, f"ids at {node}"
            for child in node.children:
                assert node.use_count <= child.use_count, f"{node} is used more than its child {child}"
                assert child.parents.count(node) == node.children.count(child), f"{child} does not know {node}"
            assert all(node in parent.children for parent in node.parents), f"parents of {node}"
        levels = {node.level for node in nodes}
        assert levels == set(range(1, len(levels) + 1)), f"there is an empty level among {sorted(levels)}"


def _key(operator: Operator, children: tuple[ATreeNode, ...]) -> object:
    return operator, (children if isinstance(operator, Function) else frozenset(children))


def tree_of(root: ATreeNode) -> list[ATreeNode]:
    """The nodes of the tree under a root, each once, parents before children."""
    found: dict[ATreeNode, None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack.extend(node.children)
    return sorted(found, key=lambda node: -node.level)


@dataclass(frozen=True, slots=True)
class _Chain:
    """A maximal associative chain: its operands are predicates or chains of another operator, in canonical order.

    Or a function, whose operands keep their order.
    """

    operator: Operator
    operands: tuple[Predicate | _Chain, ...]

    def __str__(self) -> str:
        return f"({f' {self.operator} '.join(map(str, self.operands))})"


def _canonical(expression: Expression) -> Predicate | _Chain:
    """`C AND (B AND A) AND A -> A AND B AND C`: the same chain whatever the order of writing.

    The dynamic program joins neighbours only, so the order decides what it can find; sorted by text, predicates before
    chains, equal sets of operands always meet in the same order.
    """
    if isinstance(expression, Predicate):
        return expression
    operands: list[Predicate | _Chain] = []
    if isinstance(expression.operator, Function) and expression.children:
        return _Chain(expression.operator, tuple(map(_canonical, expression.children)))
    for child in map(_canonical, expression.children):
        same = isinstance(child, _Chain) and child.operator == expression.operator
        operands.extend(child.operands if same and isinstance(child, _Chain) else (child,))
    if not operands:
        raise ValueError("the A-Tree has no node for a constant: an operator without operands")
    if expression.operator != "xor":
        operands = list(dict.fromkeys(operands))
    operands.sort(key=lambda operand: (isinstance(operand, _Chain), str(operand)))
    return operands[0] if len(operands) == 1 else _Chain(expression.operator, tuple(operands))
