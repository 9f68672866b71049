// Charts by Vega-Lite, as SVG. They are drawn again when the theme changes.

const charts = {
  drawn: new Map(),

  // `spec` makes the specification, so that it can ask for colours; `pick` is called with the datum that is clicked.
  async draw(id, spec, pick) {
    this.drawn.set(id, { spec, pick });
    const place = $(id);
    const turn = (Number(place.dataset.turn) || 0) + 1;
    place.dataset.turn = turn;
    const stage = element("div", { style: "width: 100%" });
    place.append(stage);
    const options = { renderer: "svg", actions: false, config: this.config() };
    const made = spec();
    if (!made.vconcat && !made.hconcat && !made.width)
      Object.assign(made, { width: Math.max(220, place.clientWidth), autosize: { type: "fit-x", contains: "padding" } });
    const { view } = await vegaEmbed(stage, made, options);
    if (Number(place.dataset.turn) !== turn) { stage.remove(); view.finalize(); return; }
    clear(place, stage);
    place.classList.toggle("pick", Boolean(pick));
    if (pick) view.addEventListener("click", (_, item) => { if (item?.datum) pick(item.datum); });
    place.dataset.ready = "yes";
  },

  start() {
    let waiting = 0, width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(() => this.redraw(), 200);
    });
    theme.listeners.push(() => this.redraw());
  },

  redraw() { for (const [id, { spec, pick }] of [...this.drawn]) this.draw(id, spec, pick); },

  config() {
    const [ink, muted, line, accent] = ["ink", "muted", "line", "accent"].map((name) => theme.color(name));
    const font = getComputedStyle(document.body).fontFamily;
    return {
      background: "transparent",
      font,
      view: { stroke: "transparent" },
      axis: {
        labelColor: muted, titleColor: muted, gridColor: line, domainColor: line, tickColor: line,
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 0, titlePadding: 8,
      },
      legend: { labelColor: muted, titleColor: muted, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
        labelLimit: 0 },
      header: { labelColor: ink, titleColor: muted },
      text: { color: ink, fontSize: 12 },
      bar: { color: accent, cornerRadiusEnd: 2 },
      line: { color: accent }, area: { color: accent }, rule: { color: muted },
      range: {
        category: theme.isDark
          ? ["#8fb8ff", "#ffb37a", "#74d69e", "#e7a0d8", "#f0d264", "#9ee3ea"]
          : ["#22559c", "#c8631a", "#1f7a4d", "#93357f", "#8a6d00", "#1c7f8c"],
      },
    };
  },
};

// Shades from hardly anything to very much, on the page's own background.
const shades = () => (theme.isDark ? ["#1f2a3b", "#8fb8ff"] : ["#e6eef9", "#163f7a"]);

// The longest bar leaves room for its figure.
const withRoomFor = (figures) => ({ domainMax: 1.3 * Math.max(1, ...figures) });

function barsOfRules(catalogue, rules) {
  const values = rules.map((rule, place) => ({ rule, place, id: catalogue.ids[rule], hits: catalogue.hits[rule],
    share: catalogue.hits[rule] / facts.rows }));
  const labels = axisLabels(values.map((own) => own.id), Math.min(320, 0.45 * $("top-rules").clientWidth));
  return {
    description: `Bar chart of the ${rules.length} rules with the most hits; the table below has the figures`,
    data: { values },
    params: labels.params,
    height: Math.max(22, 14 * labels.lines + 6) * values.length,
    encoding: {
      y: { field: "place", type: "ordinal", title: null, axis: { ...labels.axis, ticks: false, domain: false } },
      x: { field: "hits", type: "quantitative", title: "rows hit", axis: { format: "~s", tickCount: 5, tickMinStep: 1 } },
      tooltip: [{ field: "id", title: "rule" }, { field: "hits", title: "rows hit", format: "," },
        { field: "share", title: "of all rows", format: ".2%" }],
    },
    layer: [{ mark: { type: "bar", height: 14 } }],
  };
}

function barsOfHitCounts() {
  return {
    description: "How many rules hit how many rows",
    data: { values: facts.histogram },
    height: 26 * facts.histogram.length,
    encoding: {
      y: { field: "hits", type: "ordinal", sort: null, title: "rows hit" },
      x: { field: "rules", type: "quantitative", title: "rules", axis: { format: "~s", tickCount: 4, tickMinStep: 1 },
        scale: withRoomFor(facts.histogram.map((bar) => bar.rules)) },
    },
    layer: [
      { mark: { type: "bar", height: 16 }, encoding: { color: { condition: { test: "datum.hits === 'never'",
        value: theme.color("bad") }, value: theme.color("accent") },
        tooltip: [{ field: "hits", title: "rows hit" }, { field: "rules", title: "rules", format: "," }] } },
      { mark: { type: "text", align: "left", dx: 5 }, encoding: { text: { field: "rules", format: "," } } },
    ],
  };
}

function linesOverTime(what) {
  const { times, rows, hits, rules, column, label } = facts.time;
  const title = { hits: "hits of all rules", perRow: "hits per row", rules: "rows hit" }[what];
  const shown = { title, place: "over-time", column, label, format: what === "perRow" ? ".3~f" : "," };
  if (what === "rules")
    return timeChart({ ...shown, names: rules.map((own) => own.id), noun: "rule",
      values: rules.flatMap((own, place) => own.hits.map((value, i) => ({ at: times[i], value, name: own.id, place }))) });
  const measure = (value, i) => (what === "hits" ? value : rows[i] ? value / rows[i] : 0);
  return timeChart({ ...shown, values: hits.map((value, i) => ({ at: times[i], value: measure(value, i) })) });
}

// One area, or a line for each of some names; `place` is the chart's own.
function timeChart({ title, place, column, label, values, names, noun, format = "," }) {
  const encoding = {
    x: { field: "at", type: "temporal", scale: { type: "utc" }, axis: { grid: false }, title: `${column}, per ${label}` },
    y: { field: "value", type: "quantitative", title, axis: { format: "~s", tickCount: 5 } },
    tooltip: [{ field: "at", type: "temporal", title: "from", format: "%Y-%m-%d %H:%M:%S" },
      { field: "value", title, format }],
  };
  const params = [];
  if (names) {
    const room = $(place).clientWidth;
    const columns = Math.max(1, Math.min(3, Math.floor(room / (widest(names) + 40))));
    const labels = axisLabels(names, room / columns - 80); // beside a symbol, from where the axis ends
    params.push(...labels.params);
    const name = { field: "place", type: "nominal", title: noun,
      legend: { orient: "bottom", columns, labelExpr: labels.axis.labelExpr, labelLimit: 0, rowPadding: 4 } };
    encoding.color = name;
    encoding.strokeDash = name;
    encoding.tooltip.unshift({ field: "name", title: noun });
  }
  const mark = names ? { type: "line", strokeWidth: 2, point: { size: 14 } }
    : { type: "area", line: { strokeWidth: 2 }, point: { size: 16 }, opacity: 0.25 };
  return { description: `${title} over time`, data: { values }, params, height: 260, encoding, layer: [{ mark }] };
}

// Whether the names of rules fit beside a matrix, or it has numbers, and names below it.
function matrixSize(catalogue) {
  const { rules } = facts.matrix, room = $("matrix").clientWidth;
  const size = Math.max(8, Math.min(30, 430 / rules.length, (room - 50) / rules.length));
  const name = widest(rules.map((rule) => catalogue.ids[rule]), Math.min(12, size - 2));
  return { size, isNamed: size >= 11 && name <= 150 && name + 0.6 * name + size * rules.length < room };
}

function matrixKey(catalogue) {
  const isNamed = matrixSize(catalogue).isNamed;
  clear($("matrix-key"), isNamed ? [] : facts.matrix.rules.map((rule) => element("li", {}, ruleButton(catalogue, rule))));
}

function matrixChart(catalogue) {
  const { rules, pairs, ofRows } = facts.matrix;
  const { size, isNamed } = matrixSize(catalogue);
  const place = new Map(rules.map((rule, i) => [rule, i]));
  const values = [];
  for (const [a, b, both, share] of pairs)
    for (const [x, y] of [[a, b], [b, a]])
      values.push({ x, y, both, share, a: catalogue.ids[y], b: catalogue.ids[x], row: place.get(y), column: place.get(x) });
  const domain = rules.map((_, i) => i);
  const axis = { labelExpr: "names[datum.value]", labelFontSize: Math.min(12, size - 1), ticks: false, domain: false,
    labelOverlap: false };
  const slanted = { labelAngle: -60, labelAlign: "left", labelBaseline: "middle" };
  return {
    description: `Matrix of ${rules.length} rules: the stronger the colour, the more two rules have in common`,
    data: { values },
    params: [{ name: "names", value: rules.map((rule, i) => (isNamed ? catalogue.ids[rule] : String(i + 1))) }],
    width: { step: size }, height: { step: size },
    encoding: {
      x: { field: "column", type: "ordinal", scale: { domain }, title: null,
        axis: { ...axis, ...(isNamed ? slanted : { labelAngle: size < 16 ? -90 : 0 }), orient: "top" } },
      y: { field: "row", type: "ordinal", scale: { domain }, title: null, axis },
      tooltip: [{ field: "a", title: "rule" }, { field: "b", title: "and" },
        { field: "both", title: ofRows ? "rows both hit" : "tests both have", format: "," },
        { field: "share", title: ofRows ? "of the rows either hits" : "of the tests of both", format: ".1%" }],
    },
    layer: [{ mark: { type: "rect", cornerRadius: 2, stroke: theme.color("surface"), strokeWidth: 1 },
      encoding: { color: { field: "share", type: "quantitative", scale: { domain: [0, 1], range: shades() },
        title: ofRows ? "hit together" : "tests in common", legend: { format: ".0%", orient: "bottom" } } } }],
  };
}

// A rule at the left, the rules that have a part in common with it at the right; the thicker a line, the more they share.
function neighbourGraph(catalogue, rule, neighbours) {
  const shown = neighbours.slice(0, 10), room = Math.max(220, $("graph").clientWidth);
  const from = Math.min(90, 0.2 * room), labels = shown.map((near) => wrapped(catalogue.ids[near.rule], room - from - 50));
  const step = Math.max(30, 14 * Math.max(...labels.map((own) => own.length)) + 8);
  const middle = (step * (shown.length - 1)) / 2;
  const nodes = shown.map((near, i) => ({ x: from + 20, y: i * step, top: i * step - 7 * (labels[i].length - 1), ox: 14, oy: middle, rule: near.rule,
    id: catalogue.ids[near.rule], label: labels[i].length === 1 ? labels[i][0] : labels[i], tests: near.tests,
    both: near.parts.map((part) => catalogue.text(part, 160)).join("; ") }));
  const place = (domain, extra) => ({ type: "quantitative", scale: { domain, nice: false, zero: false, ...extra }, axis: null });
  const tooltip = [{ field: "id", title: "rule" }, { field: "tests", title: "tests in common" },
    { field: "both", title: "both contain" }];
  return {
    description: `The neighbours of the rule: ${shown.length} rules with a part in common, listed in the table below`,
    data: { values: nodes },
    width: room, height: step * shown.length, autosize: "none", padding: 0,
    encoding: { x: { field: "x", ...place([0, room]) },
      y: { field: "y", ...place([-step / 2, step * (shown.length - 0.5)], { reverse: true }) } },
    layer: [
      { mark: { type: "rule", opacity: 0.6 }, encoding: { x2: { field: "ox" }, y2: { field: "oy" },
        strokeWidth: { field: "tests", type: "quantitative", scale: { range: [1, 6] }, legend: null }, tooltip } },
      { mark: { type: "circle", size: 150, color: theme.color("accent"), opacity: 1 }, encoding: { tooltip } },
      { mark: { type: "text", align: "left", baseline: "middle", dx: 14, lineHeight: 14 },
        encoding: { y: { field: "top", type: "quantitative" }, text: { field: "label" } } },
      { data: { values: [{ x: 14, y: middle }] },
        mark: { type: "circle", size: 420, color: theme.color("good"), opacity: 1 } },
    ],
  };
}

function barsOfLevels() {
  return {
    description: "Number of shared parts at each level of the index",
    data: { values: facts.levels.map((parts, i) => ({ level: i + 1, parts })) },
    height: 26 * facts.levels.length,
    encoding: {
      y: { field: "level", type: "ordinal", title: "level" },
      x: { field: "parts", type: "quantitative", title: "parts", axis: { format: "~s", tickCount: 4, tickMinStep: 1 },
        scale: withRoomFor(facts.levels) },
      tooltip: [{ field: "level" }, { field: "parts", format: "," }],
    },
    layer: [
      { mark: { type: "bar", height: 16 } },
      { mark: { type: "text", align: "left", dx: 5 }, encoding: { text: { field: "parts", format: "," } } },
    ],
  };
}

// Where the rows lie, and where the tests of rules are true. Values in an order stand side by side, with the ranges of
// tests below them; others, and those with long names, one below the other.
function distribution(attribute) {
  const bins = attribute.bins.map((bin, place) => ({ ...bin, place }));
  const labels = bins.map((bin) => bin.label), room = $("distribution").clientWidth;
  const tooltip = [{ field: "label", title: "values" }, { field: "share", title: "of the rows", format: ".2%" },
    { field: "tests", title: "tests of rules true here", format: "," }];
  const description = `Where the values of ${attribute.name} lie, and where tests of rules are true`;
  return attribute.spans.length && widest(labels) <= 120
    ? sideBySide(attribute, bins, labels, room, tooltip, description)
    : oneBelowTheOther(bins, labels, room, tooltip, description);
}

function oneBelowTheOther(bins, texts, room, tooltip, description) {
  const extent = Math.min(0.4 * room, Math.max(40, widest(texts) + 10));
  const labels = axisLabels(texts, extent - 6);
  const y = (axis) => ({ field: "place", type: "ordinal", title: null, axis: axis && { ...axis, ticks: false, domain: false } });
  const panel = (field, title, format, color, axis) => ({ data: { values: bins },
    width: Math.max(50, (room - extent - 40) / 2), height: { step: Math.max(20, 14 * labels.lines + 4) },
    mark: { type: "bar", height: 13, color: theme.color(color) },
    encoding: { y: y(axis), x: { field, type: "quantitative", title, axis: { format, tickCount: 3 } }, tooltip } });
  return {
    description, params: labels.params, spacing: 12,
    hconcat: [panel("share", "rows", "%", "accent", labels.axis), panel("tests", "rules' tests true", "~s", "warn", null)],
  };
}

function sideBySide(attribute, bins, names, room, tooltip, description) {
  const texts = attribute.spans.map((span) => span.text);
  const extent = Math.min(0.4 * room, Math.max(50, widest(texts) + 8)), labels = axisLabels(texts, extent - 6);
  const x = (axis) => ({ field: "place", type: "ordinal", scale: { domain: bins.map((bin) => bin.place) }, title: null, axis });
  const y = (field, title, axis) => ({ field, type: "quantitative", title, axis: { minExtent: extent, ...axis } });
  const ranges = attribute.spans.flatMap((span, n) => bins.slice(span.first, span.last + 1)
    .map(({ place }) => ({ place, n, text: span.text, rules: span.rules })));
  const drawn = [
    { data: { values: bins }, height: 130, mark: { type: "bar" },
      encoding: { x: x(null), y: y("share", "rows", { format: "%", tickCount: 4 }), tooltip } },
    { data: { values: bins }, height: 60, mark: { type: "bar", color: theme.color("warn") },
      encoding: { x: x(null), y: y("tests", ["rules'", "tests true"], { tickCount: 2, format: "~s" }), tooltip } },
    { data: { values: ranges }, height: { step: Math.max(17, 14 * labels.lines + 4) },
      mark: { type: "rect", height: 8, color: theme.color("good") },
      encoding: {
        x: x({ labelExpr: "values[datum.value]", labelAngle: -45, ticks: false, labelOverlap: true }),
        y: { field: "n", type: "ordinal", title: null,
          axis: { ...labels.axis, ticks: false, domain: false, minExtent: extent } },
        tooltip: [{ field: "text", title: "test" }, { field: "rules", title: "rules with it", format: "," }] } },
  ];
  const width = Math.max(100, room - extent - 40);
  return { description, params: [...labels.params, { name: "values", value: names }], spacing: 8,
    vconcat: drawn.map((view) => ({ width, ...view })) };
}
