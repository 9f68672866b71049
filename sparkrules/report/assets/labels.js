// Labels of charts: texts of users, of any length, which are wrapped and not cut.

const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, size = 12) {
  measure.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

const widest = (texts, size) => Math.ceil(Math.max(0, ...texts.map((text) => textWidth(text, size))));

// A text as lines that are at most so many pixels wide, broken between words. What needs more than `most` lines ends
// with an ellipsis: the tooltip has all of it.
function wrapped(text, width, most = 6, size = 12) {
  const lines = [""];
  for (const piece of [...text.matchAll(/[^\s_\-./\\,;:|]*[\s_\-./\\,;:|]*/g)].map(([found]) => found)) {
    if (textWidth((lines.at(-1) + piece).trimEnd(), size) <= width) { lines[lines.length - 1] += piece; continue; }
    if (lines.at(-1)) lines.push("");
    for (const letter of piece) {
      if (lines.at(-1) && textWidth(lines.at(-1) + letter, size) > width) lines.push("");
      lines[lines.length - 1] += letter;
    }
  }
  const kept = lines.slice(0, most).map((line) => line.trim());
  if (lines.length > most) kept[most - 1] = `${kept[most - 1].slice(0, -1)}…`;
  return kept;
}

// What the labels of an axis take: `names` for the specification's `params`, and the height of the tallest.
function axisLabels(texts, width) {
  const lines = texts.map((text) => wrapped(text, width));
  return { params: [{ name: "names", value: lines }], lines: Math.max(1, ...lines.map((own) => own.length)),
    axis: { labelExpr: "names[datum.value]", labelLimit: 0, labelLineHeight: 14, labelPadding: 6 } };
}
