"""Writes docs/papers.md and its plots from the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.papers import plots
from benchmarks.papers.experiment import Claim, Result
from benchmarks.papers.experiments import EXPERIMENTS
from benchmarks.papers.texts import HIGHLIGHTS, PAPERS, Misprint, Module, Paper
from benchmarks.papers.thesis import figures
from benchmarks.report import markdown, number
from benchmarks.verdict import RULES, VERDICTS, Verdict

Results = Mapping[str, Result]
PICTURES = "papers"

_HEAD = """# The papers, reproduced

Five papers are behind sparkrules. This page holds what they claim against what we measure, with one command:

```bash
make papers                                   # all experiments; resumes where it was interrupted
make papers PAPERS='--quick'                  # smaller, some minutes; the page goes to build/papers
make papers PAPERS='--only thesis-5.8'        # some of them
```

Each experiment is a JSON file in [benchmarks/papers/results](../benchmarks/papers/results), from which this page and
its plots are generated; sizes are set in [experiments.py](../benchmarks/papers/experiments.py).
"""

_RULES_TEXT = """## Verdicts

A claim has a kind, and each kind has one rule. The rules are in [verdict.py](../benchmarks/verdict.py) and do not look
at which claim it is. What is neither reproduced nor a trend is *not reproduced*. One rule was made stricter after the
first results: a count without a direction has to be within a factor of two to be a trend.
"""


def write_page(results: Results, docs: Path) -> Path:
    """The page and its plots, for the experiments that have results."""
    (docs / PICTURES).mkdir(parents=True, exist_ok=True)
    claims = {
        name: EXPERIMENTS[name].claims(own.options, own.points) for name, own in results.items() if _is_ready(name, own)
    }
    drawn = {
        name: draw(results) for name, (needs, draw) in plots.PLOTS.items() if all(need in claims for need in needs)
    }
    drawn["verdicts"] = plots.verdicts({paper.short: _counted(_claims_of(paper, claims)) for paper in PAPERS})
    for name, svg in drawn.items():
        (docs / PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")
    parts = [_HEAD, _machine(results), _RULES_TEXT, _rules(), *_summary(claims)]
    for paper in PAPERS:
        parts += _paper(paper, results, claims, drawn)
    page = docs / "papers.md"
    page.write_text("\n\n".join(part.strip("\n") for part in parts) + "\n", encoding="utf-8")
    return page


def _is_ready(name: str, own: Result) -> bool:
    """Claims compare points with each other, so they need all of them."""
    return set(own.points) >= set(EXPERIMENTS[name].points(own.options))


def _machine(results: Results) -> str:
    machines = {(own.machine.get("processor", ""), own.machine.get("cores", "")) for own in results.values()}
    dates = sorted({own.machine.get("date", "") for own in results.values()} - {""})
    where = "; ".join(f"{name}, {cores} cores" for name, cores in sorted(machines) if name)
    hours = sum(sum(own.seconds.values()) for own in results.values()) / 3600
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}" if dates else ""
    loads = [float(own.machine["load"]) for own in results.values() if "load" in own.machine]
    load = f" The load was at most {max(loads):.1f}, of which about 1 is the run itself." if loads else ""
    return (
        f"Measured on {where} ({when}), {hours:.1f} hours in all.{load} Times are of the thread's or the process' "
        "processor. At a point of the race all algorithms took turns; other times, and different points, were taken "
        "one after the other, so small differences between them say little. Counted figures do not depend on the "
        "machine."
    )


def _rules() -> str:
    table = [(kind, *own) for kind, own in RULES.items()]
    return markdown(["kind", "the paper says", "reproduced", "trend only"], table)


def _claims_of(paper: Paper, claims: Mapping[str, Sequence[Claim]]) -> list[Claim]:
    return [claim for name in paper.experiments for claim in claims.get(name, ())]


def _counted(claims: Iterable[Claim]) -> dict[Verdict, int]:
    counts: dict[Verdict, int] = dict.fromkeys(VERDICTS, 0)
    for claim in claims:
        counts[claim.judged.verdict] += 1
    return counts


def _summary(claims: Mapping[str, Sequence[Claim]]) -> list[str]:
    table = []
    for paper in PAPERS:
        for name in paper.experiments:
            if claims.get(name):
                counts = _counted(claims[name])
                link = f"[{paper.short}](#{_anchor(paper.short)})"
                table.append((link, EXPERIMENTS[name].title, *(str(counts[verdict]) for verdict in VERDICTS)))
    total = _counted(claim for own in claims.values() for claim in own)
    table.append(("**all**", f"{sum(total.values())} claims", *(f"**{total[verdict]}**" for verdict in VERDICTS)))
    every = [
        (paper.short, claim.where, claim.text, claim.judged.verdict)
        for paper in PAPERS
        for claim in _claims_of(paper, claims)
    ]
    return [
        "## All claims",
        _highlights(claims),
        markdown(["paper", "experiment", *VERDICTS], table),
        f"![Verdicts by paper]({PICTURES}/verdicts.svg)",
        '<details markdown="1">\n<summary>Every claim with its verdict</summary>',
        markdown(["paper", "where", "claim", "verdict"], every),
        "</details>",
    ]


def _highlights(claims: Mapping[str, Sequence[Claim]]) -> str:
    lines = [
        f"- {question}: **{claim.judged.verdict}** ({claim.judged.ours})"
        for question, name, text in HIGHLIGHTS
        for claim in claims.get(name, ())
        if claim.text == text
    ]
    return "\n".join(["What the papers stand for:", "", *lines])


def _paper(
    paper: Paper, results: Results, claims: Mapping[str, Sequence[Claim]], drawn: Mapping[str, str]
) -> Iterable[str]:
    yield f"## {paper.short}"
    yield f"*{paper.title}*"
    yield paper.about
    for plot in paper.plots:
        if plot.name in drawn:
            yield f"![{plot.caption}]({PICTURES}/{plot.name}.svg)\n\n*{plot.caption}.*"
    if paper.short == "The A-Tree":
        yield from _race_table(results)
    for name in paper.experiments:
        if claims.get(name):
            yield f"### {paper.short}, {EXPERIMENTS[name].title}"
            yield _sizes(results[name])
            yield _claim_table(claims[name])
    yield f"### {paper.short}: misprints"
    yield _misprints(paper.misprints)
    yield f"### {paper.short}: where it is"
    yield _modules(paper.modules)
    yield "\n".join(f"- {note}" for note in paper.notes)


def _claim_table(claims: Iterable[Claim]) -> str:
    table = [
        (
            f"{claim.text} *({claim.where})*",
            claim.judged.kind,
            claim.judged.paper,
            claim.judged.ours,
            "" if claim.judged.ratio is None else f"{claim.judged.ratio:.2f}",
            f"**{claim.judged.verdict}**" if claim.judged.verdict != "reproduced" else claim.judged.verdict,
            _why(claim),
        )
        for claim in claims
    ]
    return markdown(["claim", "kind", "paper", "ours", "ratio", "verdict", "why"], table)


def _why(claim: Claim) -> str:
    """The reason that we know or suspect; or else what the rule has decided by."""
    found = claim.judged
    if claim.why and (found.verdict != "reproduced" or found.kind == "bound"):
        return claim.why
    said, reproduced, trend = RULES[found.kind]
    del said
    if found.verdict == "reproduced":
        return f"{reproduced[0].upper()}{reproduced[1:]}."
    if found.verdict == "trend only":
        return f"Only {trend}; the reason is not known."
    return "The reason is not known."


def _sizes(result: Result) -> str:
    shown = []
    for name, value in result.options.items():
        if name == "sizes" and isinstance(value, dict):
            sizes = sorted({size for own in value.values() for size in own})
            span = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
            shown.append(f"{span} subscriptions")
        elif name == "sizes":
            shown.append(f"{', '.join(f'{size:,}' for size in value)} advertisements")
        elif name != "points" or not isinstance(value, list):
            shown.append(f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}")
    return f"Sizes: {'; '.join(shown)}."


def _race_table(results: Results) -> Iterable[str]:
    """All algorithms beside our kernel, at the points that the kernel was measured at."""
    kernel = results.get("thesis-kernel")
    if kernel is None or not kernel.points:
        return
    names = [name for name in plots.ALGORITHMS if name != "our kernel"]
    head = ["section", "L", "subscriptions", *names, "our kernel"]
    yield "### The A-Tree: our kernel beside them"
    yield (
        "The kernel is not in the thesis. It compiles all rules before the first row, so it has no insertions to "
        "compare; [Benchmarks](benchmarks.md#compiling-and-changing) has how fast rules are compiled and changed. "
        "Events per second of one thread:"
    )
    yield markdown(head, _beside(results, kernel, names, "events", 1.0))
    yield "Megabytes:"
    yield markdown(head, _beside(results, kernel, names, "bytes", 1e-6))


def _beside(
    results: Results, kernel: Result, names: Sequence[str], metric: str, factor: float
) -> list[tuple[str, ...]]:
    table = []
    for point, own in kernel.points.items():
        sweep, value, size = point.split()
        found = figures(results[sweep].points, int(value), int(size)) if sweep in results else None
        if found is not None:
            cells = [number(found[name][metric] * factor) if name in found else "" for name in names]
            last = f"**{number(own[metric] * factor)}**"
            table.append((sweep.removeprefix("thesis-"), value, f"{int(size):,}", *cells, last))
    return table


def _misprints(misprints: Iterable[Misprint]) -> str:
    table = [(where, printed, right, _link(test)) for where, printed, right, test in misprints]
    return markdown(["where", "printed", "right", "shown by"], table)


def _modules(modules: Iterable[Module]) -> str:
    table = [(what, _link(module), _link(tests), reached) for what, module, tests, reached in modules]
    return markdown(["algorithm", "module", "tests", "reached by"], table)


def _link(path: str) -> str:
    return f"[{path.rpartition('/')[2]}](../{path})"


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")
