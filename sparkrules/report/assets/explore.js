// One rule: what it says, how often it hits, what is found about it, and its neighbours.

function partsList(catalogue, parts, most = 4) {
  if (!parts.length) return "no part in common";
  const items = parts.slice(0, most).map((part) => element("li", {}, catalogue.text(part)));
  if (parts.length > most) items.push(element("li", {}, `… and ${count(parts.length - most)} more`));
  return element("ul", { class: "parts" }, items);
}

// The expression as nested lists: "all of" and "any of" instead of AND and OR.
function tree(catalogue, node, depth = 0) {
  const most = 60;
  const label = catalogue.operators[node] === 0
    ? [catalogue.tests[catalogue.leaf[node]]]
    : [element("span", { class: "joint" }, catalogue.operators[node] === 1 ? "all of" : "any of")];
  if (catalogue.uses[node] > 1 && depth)
    label.push(element("span", { class: "shared" }, `in ${count(catalogue.uses[node])} rules`));
  // Single tests first: they are read at a glance.
  const children = [...catalogue.flat(node)].sort((a, b) => (catalogue.operators[a] > 0) - (catalogue.operators[b] > 0));
  if (!children.length || depth > 24) return element("li", {}, label);
  const items = children.slice(0, most).map((child) => tree(catalogue, child, depth + 1));
  if (children.length > most) items.push(element("li", {}, `… and ${count(children.length - most)} more`));
  return element("li", {}, label, element("ul", {}, items));
}

function together(rule) {
  if (!facts.matrix.ofRows) return [];
  return facts.matrix.pairs.filter(([a, b]) => a === rule || b === rule)
    .map(([a, b, rows, share]) => ({ rule: a === rule ? b : a, rows, share }))
    .sort((a, b) => b.rows - a.rows);
}

function neighbourTable(catalogue, rule, neighbours) {
  const rows = new Map(together(rule).map((pair) => [pair.rule, pair.rows]));
  return element("div", { class: "scroll" }, element("table", { id: "neighbours", class: "stacked" },
    element("caption", {}, "Rules with a part in common, those that share most first"),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "rule"),
      element("th", { scope: "col" }, "both contain"),
      rows.size ? element("th", { scope: "col", class: "number" }, "rows both hit") : null)),
    element("tbody", {}, neighbours.map((near) => element("tr", {}, element("td", { class: "of-rule" }, ruleButton(catalogue, near.rule)),
      element("td", { class: "text" }, partsList(catalogue, near.parts)),
      rows.size ? element("td", { class: "number", "data-label": "rows both hit" }, rows.has(near.rule) ? count(rows.get(near.rule)) : "–") : null)))));
}

function togetherTable(catalogue, rule) {
  const pairs = together(rule).slice(0, 6);
  if (!pairs.length) return null;
  return [element("h3", {}, "Hits the same rows as"),
    element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "rule"),
        element("th", { scope: "col", class: "number" }, "rows both hit"))),
      element("tbody", {}, pairs.map((pair) => element("tr", {}, element("td", { class: "of-rule" }, ruleButton(catalogue, pair.rule)),
        element("td", { class: "number" }, `${count(pair.rows)} (${percent(pair.share)})`))))))];
}

function showRule(catalogue, rule, { move = true } = {}) {
  const neighbours = catalogue.neighbours(rule);
  const known = catalogue.hits;
  const details = [];
  if (known) details.push(element("li", {}, "rows hit ", element("b", {}, count(known[rule])),
    facts.rows ? ` (${percent(known[rule] / facts.rows)})` : ""));
  if (catalogue.estimates) details.push(element("li", {}, "estimate ", element("b", {}, catalogue.estimate(rule))));
  details.push(element("li", {}, "priority ", element("b", {}, String(catalogue.priorities[rule]))));
  details.push(element("li", {}, "tests ", element("b", {}, count(catalogue.weight(catalogue.roots[rule])))));
  if (catalogue.statuses[rule]) details.push(element("li", {}, "status ", element("b", {}, catalogue.statuses[rule])));
  if (catalogue.tags[rule]) details.push(element("li", {}, "tags ", element("b", {}, catalogue.tags[rule].join(", "))));
  if (catalogue.invalid.has(rule) && !catalogue.statuses[rule]) details.push(element("li", {}, element("b", {}, "not valid now")));
  for (const [key, value] of Object.entries(JSON.parse(catalogue.metadata[rule] ?? "{}")).slice(0, 12))
    details.push(element("li", {}, `${key} `, element("b", {}, typeof value === "string" ? value : JSON.stringify(value))));
  const said = facts.findings[catalogue.ids[rule]] ?? [];
  clear($("rule"),
    element("h3", { class: "rule-head", id: "rule-id", tabindex: "-1" }, catalogue.ids[rule]),
    element("ul", { class: "facts" }, details),
    element("div", { class: "columns even" },
      element("div", {}, element("h3", {}, "As written"), element("pre", {}, catalogue.texts[rule]),
        element("h3", {}, "What has to be true"),
        element("div", { class: "tree" }, element("ul", {}, tree(catalogue, catalogue.roots[rule]))),
        said.length ? [element("h3", {}, "Findings"), element("ul", {}, said.map((text) => element("li", {}, text)))] : null),
      element("div", {}, element("h3", {}, "Neighbours"),
        neighbours.length ? element("div", { id: "graph", class: "chart" })
          : element("p", { class: "hint" }, "No other rule has a part in common with this one."),
        togetherTable(catalogue, rule))),
    neighbours.length ? neighbourTable(catalogue, rule, neighbours.slice(0, 8)) : null);
  charts.drawn.delete("graph");
  if (neighbours.length)
    charts.draw("graph", () => neighbourGraph(catalogue, rule, neighbours), (datum) => {
      if (datum.rule !== undefined) showRule(catalogue, datum.rule, { move: false });
    });
  $("find").value = catalogue.ids[rule];
  $("found").hidden = true;
  $("find").setAttribute("aria-expanded", "false");
  if (move) { $("explore").scrollIntoView(); $("rule-id").focus({ preventScroll: true }); }
}

// A combobox: type, arrows, Enter.
function startSearch(catalogue) {
  const input = $("find"), list = $("found");
  let options = [], active = -1;
  const activate = (place) => {
    active = place;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === place)));
    if (place >= 0) { input.setAttribute("aria-activedescendant", `found-${place}`); list.children[place].scrollIntoView({ block: "nearest" }); }
    else input.removeAttribute("aria-activedescendant");
  };
  const look = () => {
    options = catalogue.search(input.value, 12);
    clear(list, options.length ? options.map((rule, i) => element("li", { role: "option", id: `found-${i}`,
      onmousedown: (event) => { event.preventDefault(); showRule(catalogue, rule); } }, catalogue.ids[rule],
      element("small", {}, catalogue.texts[rule].slice(0, 90)))) : element("li", { class: "none" }, "no rule has that"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    activate(-1);
  };
  const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
  input.addEventListener("input", look);
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) look();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (options.length) activate((active + step + options.length) % options.length);
    } else if (event.key === "Enter" && options.length) {
      event.preventDefault();
      showRule(catalogue, options[Math.max(active, 0)]);
    }
  });
}
