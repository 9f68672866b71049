// All rules in a table of which only one page exists at a time.

function startTable(catalogue) {
  const size = 12;
  let page = 0, rules = [];
  const accepts = {
    all: () => true,
    hit: (rule) => catalogue.hits[rule] > 0,
    never: (rule) => catalogue.hits[rule] === 0,
  };
  const most = catalogue.hits?.[0] || 1;
  const show = () => {
    const pages = Math.max(1, Math.ceil(rules.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    clear($("rules-body"), rules.slice(page * size, (page + 1) * size).map((rule) => element("tr", {},
      element("td", { class: "of-rule" }, ruleButton(catalogue, rule)),
      catalogue.hits ? element("td", { class: "number", "data-label": "rows hit" }, count(catalogue.hits[rule])) : null,
      catalogue.hits ? element("td", {}, element("span", { class: "bar",
        style: `width: ${((90 * catalogue.hits[rule]) / most).toFixed(1)}px` })) : null,
      catalogue.estimates ? element("td", { class: "number", "data-label": "estimate" }, catalogue.estimate(rule)) : null,
      element("td", { class: "text" }, catalogue.texts[rule].length > 220
        ? `${catalogue.texts[rule].slice(0, 220)} …` : catalogue.texts[rule]))));
    $("rules-place").textContent = rules.length
      ? `${count(page * size + 1)} to ${count(Math.min(rules.length, (page + 1) * size))} of ${count(rules.length)} rules`
      : "no such rule";
    $("rules-back").disabled = page === 0;
    $("rules-next").disabled = page >= pages - 1;
  };
  const look = () => {
    page = 0;
    rules = catalogue.search($("rules-find").value, Infinity, accepts[$("rules-which")?.value ?? "all"]);
    show();
  };
  let waiting = 0;
  $("rules-find").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 120); });
  $("rules-which")?.addEventListener("change", look);
  $("rules-back").addEventListener("click", () => { page--; show(); });
  $("rules-next").addEventListener("click", () => { page++; show(); });
  look();
  return (which) => { $("rules-find").value = ""; $("rules-which").value = which; look(); };
}
