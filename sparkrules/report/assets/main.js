// Puts the page together.

function showPair(catalogue, a, b) {
  const found = facts.matrix.pairs.find(([x, y]) => (x === a && y === b) || (x === b && y === a));
  const parts = catalogue.shared(a, b);
  const said = facts.matrix.ofRows
    ? ` both hit ${count(found[2])} ${found[2] === 1 ? "row" : "rows"}, ${percent(found[3])} of those that either hits.`
    : ` have ${count(found[2])} ${found[2] === 1 ? "test" : "tests"} in common, ${percent(found[3])} of those that either has.`;
  clear($("pair"), element("p", {}, ruleButton(catalogue, a), " and ", ruleButton(catalogue, b), said),
    element("p", {}, parts.length ? "Both contain" : "They have no part in common."),
    parts.slice(0, 6).map((part) => element("pre", {}, catalogue.text(part))));
}

function startAttributes() {
  const choice = $("attribute");
  if (!choice) return;
  const draw = () => {
    const attribute = facts.attributes[Number(choice.value)];
    $("attribute-said").textContent = `${count(attribute.tests)} different tests; ` +
      `NULL in ${percent(attribute.nullShare)} of the rows; looked up by: ${attribute.search}.`;
    charts.draw("distribution", () => distribution(attribute));
  };
  choice.addEventListener("change", draw);
  draw();
}

function startTime() {
  if (!facts.time) return;
  const draw = () => charts.draw("over-time", () => linesOverTime($("time-what").value));
  $("time-what").addEventListener("change", draw);
  draw();
}

async function start() {
  theme.start();
  const catalogue = new Catalogue(await unpack($("catalogue").textContent));
  window.sparkrulesReport = { catalogue, facts };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.rule");
    if (button?.dataset.rule) showRule(catalogue, Number(button.dataset.rule));
    else if (button?.dataset.id && catalogue.place.has(button.dataset.id))
      showRule(catalogue, catalogue.place.get(button.dataset.id));
  });
  startSearch(catalogue);
  const showRules = startTable(catalogue);
  document.querySelectorAll("[data-which]").forEach((link) =>
    link.addEventListener("click", () => showRules(link.dataset.which)));
  if (catalogue.hits) {
    const hitters = catalogue.ids.slice(0, 20).map((_, rule) => rule).filter((rule) => catalogue.hits[rule] > 0);
    if (hitters.length) charts.draw("top-rules", () => barsOfRules(catalogue, hitters), (datum) => showRule(catalogue, datum.rule));
    charts.draw("hit-counts", barsOfHitCounts);
  }
  startTime();
  startDetections();
  if (facts.matrix.pairs.length) {
    charts.draw("matrix", () => { matrixKey(catalogue); return matrixChart(catalogue); }, (datum) => { if (datum.x !== undefined) showPair(catalogue, datum.y, datum.x); });
    const [a, b] = facts.matrix.pairs.reduce((best, pair) => (pair[2] > best[2] ? pair : best));
    showPair(catalogue, a, b);
  }
  if (facts.levels.length) charts.draw("levels", barsOfLevels);
  startAttributes();
  charts.start();
  if (catalogue.size) showRule(catalogue, facts.shown, { move: false });
  document.documentElement.dataset.ready = "yes";
}

start();
