// Building the page. Texts of users only ever become text nodes: nothing here writes HTML.

const $ = (id) => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);
const number = new Intl.NumberFormat("en");
const count = (value) => number.format(value);
const percent = (share) =>
  share === 0 ? "0 %" : share < 0.001 ? "under 0.1 %" : `${number.format(Math.round(share * 1000) / 10)} %`;

function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...content.flat().filter((part) => part != null));
  return made;
}

const clear = (parent, ...content) => parent.replaceChildren(...content.flat().filter((part) => part != null));

function ruleButton(catalogue, rule) {
  return element("button", { class: "rule", type: "button", "data-rule": rule }, catalogue.ids[rule]);
}
