// All rules: unpacked once, asked by place. Nodes are numbered; a rule is the node of its whole expression.

const JOINTS = ["", "and", "or"];

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function rowsOf(counts) {
  const offsets = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) offsets[i + 1] = offsets[i] + counts[i];
  return offsets;
}

// For each of `count` numbers, the rows of lists that have it.
function transposed(offsets, values, count) {
  const counts = new Int32Array(count);
  for (const value of values) counts[value]++;
  const starts = rowsOf(counts);
  const next = starts.slice();
  const rows = new Int32Array(values.length);
  for (let row = 0; row + 1 < offsets.length; row++)
    for (let i = offsets[row]; i < offsets[row + 1]; i++) rows[next[values[i]]++] = row;
  return { offsets: starts, values: rows };
}

class Catalogue {
  constructor(content) {
    Object.assign(this, content);
    this.size = this.ids.length;
    this.invalid = new Set(this.invalid);
    this.children = { offsets: rowsOf(content.counts), values: Int32Array.from(content.children) };
    this.leaf = new Int32Array(this.operators.length).fill(-1);
    let leaves = 0;
    this.operators.forEach((operator, node) => { if (operator === 0) this.leaf[node] = leaves++; });
    this.place = new Map(this.ids.map((id, rule) => [id, rule]));
    this.weights = new Map();
  }

  // The share of rows that a rule matches: at least, probably, at most; one figure if they are the same.
  estimate(rule) {
    const [least, probable, most] = this.estimates.slice(3 * rule, 3 * rule + 3).map(percent);
    return least === most ? most : `${least} – ${probable} – ${most}`;
  }

  get parents() {
    return this._parents ??= transposed(this.children.offsets, this.children.values, this.operators.length);
  }

  get rulesAt() {
    const one = Int32Array.from({ length: this.size + 1 }, (_, rule) => rule);
    return this._rulesAt ??= transposed(one, this.roots, this.operators.length);
  }

  get haystack() {
    return this._haystack ??= this.ids.map((id, rule) => `${id}\n${this.texts[rule]}\n${this.metadata[rule] ?? ""}`.toLowerCase());
  }

  // Places of rules whose id or text contains all words; those whose id begins with the query come first.
  search(query, limit = Infinity, accepts = () => true) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const whole = query.trim().toLowerCase();
    const first = [], then = [];
    for (let rule = 0; rule < this.size; rule++) {
      if (!accepts(rule)) continue;
      const text = this.haystack[rule];
      if (!words.every((word) => text.includes(word))) continue;
      if (whole && text.startsWith(whole)) first.push(rule);
      else if (then.length < limit) then.push(rule);
    }
    first.sort((a, b) => this.ids[a].length - this.ids[b].length || a - b);
    return first.concat(then).slice(0, limit);
  }

  childrenOf(node) {
    return this.children.values.subarray(this.children.offsets[node], this.children.offsets[node + 1]);
  }

  nodesOf(rule) {
    const seen = new Set([this.roots[rule]]);
    for (const node of seen) for (const child of this.childrenOf(node)) seen.add(child);
    return seen;
  }

  // How many tests a part has.
  weight(node) {
    if (this.operators[node] === 0) return 1;
    let weight = this.weights.get(node);
    if (weight === undefined) {
      weight = 0;
      for (const child of this.childrenOf(node)) weight += this.weight(child);
      this.weights.set(node, weight);
    }
    return weight;
  }

  text(node, limit = 320) {
    if (this.operators[node] === 0) return this.tests[this.leaf[node]];
    const joint = JOINTS[this.operators[node]];
    const parts = [];
    let length = 0;
    for (const child of this.flat(node)) {
      const text = this.text(child, limit);
      parts.push(this.operators[child] === 0 ? text : `(${text})`);
      length += text.length;
      if (length > limit) { parts.push("…"); break; }
    }
    return parts.length ? parts.join(` ${joint} `) : String(this.operators[node] === 1);
  }

  // The operands of a chain: a common part of an AND, which is an AND too, is read as if it were not there.
  *flat(node) {
    for (const child of this.childrenOf(node))
      if (this.operators[child] === this.operators[node]) yield* this.flat(child);
      else yield child;
  }

  // Some rules that have a part, at most `limit`.
  users(node, limit) {
    const found = [], seen = new Set([node]);
    for (const current of seen) {
      const { offsets, values } = this.rulesAt;
      for (let i = offsets[current]; i < offsets[current + 1] && found.length < limit; i++) found.push(values[i]);
      if (found.length >= limit || seen.size > 20000) break;
      for (let i = this.parents.offsets[current]; i < this.parents.offsets[current + 1]; i++)
        seen.add(this.parents.values[i]);
    }
    return found;
  }

  // The largest parts that both rules have, none of them within another.
  shared(a, b) {
    const other = this.nodesOf(b);
    const both = new Set([...this.nodesOf(a)].filter((node) => other.has(node)));
    const within = new Set();
    for (const node of both) for (const child of this.childrenOf(node)) within.add(child);
    return [...both].filter((node) => !within.has(node)).sort((x, y) => this.weight(y) - this.weight(x));
  }

  // Rules that have a part in common with a rule, those with the largest part first, and of these with the rarest.
  neighbours(rule, limit = 18) {
    const parts = [...this.nodesOf(rule)].filter((node) => this.uses[node] > 1);
    parts.sort((a, b) => this.weight(b) - this.weight(a) || this.uses[a] - this.uses[b] || a - b);
    const found = new Set();
    for (const part of parts) {
      for (const other of this.users(part, 4 * limit)) if (other !== rule && found.size < 4 * limit) found.add(other);
      if (found.size >= 4 * limit) break;
    }
    const listed = [...found].map((other) => {
      const parts = this.shared(rule, other);
      return { rule: other, parts, tests: parts.reduce((sum, node) => sum + this.weight(node), 0) };
    });
    listed.sort((a, b) => b.tests - a.tests || a.rule - b.rule);
    return listed.slice(0, limit);
  }
}
