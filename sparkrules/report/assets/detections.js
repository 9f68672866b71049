// What patterns have detected, over time and by key.

function startDetections() {
  if (!facts.detections) return;
  const drawTimes = () => charts.draw("detections", () => detectionsOverTime($("detections-what").value));
  $("detections-what").addEventListener("change", drawTimes);
  drawTimes();
  const drawKeys = () => {
    const pattern = facts.detections.patterns[Number($("detections-pattern").value)];
    const left = pattern.keys - pattern.top.length;
    $("detections-said").textContent = pattern.said + "." + (left > 0 ? ` The ${pattern.top.length} keys found most; ${count(left)} more are not shown.` : "");
    charts.draw("detection-keys", () => detectionsByKey(pattern));
  };
  $("detections-pattern").addEventListener("change", drawKeys);
  drawKeys();
}

function detectionsOverTime(what) {
  const { times, patterns, all, shown, column, label } = facts.detections;
  if (what === "all")
    return timeChart({ title: "detections", place: "detections", column, label,
      values: all.map((value, i) => ({ at: times[i], value })) });
  const named = patterns.slice(0, shown);
  return timeChart({ title: "detections", place: "detections", column, label, names: named.map((own) => own.id), noun: "pattern",
    values: named.flatMap((own, place) => own.detections.map((value, i) => ({ at: times[i], value, name: own.id, place }))) });
}

// Each key is a line of dots, and a bar of all its detections.
function detectionsByKey(pattern) {
  const { times, column, label } = facts.detections, room = $("detection-keys").clientWidth;
  const keys = pattern.top.map((own) => own.key), extent = Math.min(0.35 * room, Math.max(40, widest(keys) + 10));
  const labels = axisLabels(keys, extent - 8), height = Math.max(24, 14 * labels.lines + 6) * keys.length;
  const totals = pattern.top.map((own, place) => ({ key: own.key, place, value: own.detections.reduce((a, b) => a + b, 0) }));
  const step = times.length > 1 ? times[1] - times[0] : 1000;
  const dots = pattern.top.flatMap((own, place) => own.detections.map((value, i) =>
    ({ key: own.key, place, value, from: times[i], at: times[i] + step / 2 }))).filter((dot) => dot.value);
  const domain = totals.map((own) => own.place), bars = Math.max(70, 0.22 * room);
  const width = Math.max(80, room - extent - bars - 46), most = Math.min(15, Math.max(5, width / times.length)); // of a dot
  const y = (axis) => ({ field: "place", type: "ordinal", scale: { domain }, title: null, axis });
  const tooltip = [{ field: "key" }, { field: "value", title: "detections", format: "," }];
  return {
    description: `Detections of ${pattern.id} over time, for the keys with the most`, params: labels.params, spacing: 14,
    hconcat: [
      { data: { values: dots }, width, height, mark: { type: "circle", opacity: 0.85, color: theme.color("accent") },
        encoding: { y: y({ ...labels.axis, grid: true, ticks: false, domain: false, minExtent: extent }),
          x: { field: "at", type: "temporal", scale: { type: "utc", domain: [times[0], times.at(-1) + step] }, title: `${column}, per ${label}`,
            axis: { grid: false, labelOverlap: true, labelSeparation: 8, tickCount: Math.max(2, Math.floor(width / 90)) } },
          size: { field: "value", type: "quantitative", scale: { type: "sqrt", domainMin: 0, range: [0, most * most] }, legend: null },
          tooltip: [...tooltip, { field: "from", type: "temporal", title: "from", format: "%Y-%m-%d %H:%M:%S" }] } },
      { data: { values: totals }, width: bars, height,
        encoding: { y: y(null), x: { field: "value", type: "quantitative", title: "detections", axis: { format: "~s", tickCount: 3, tickMinStep: 1 },
          scale: withRoomFor(totals.map((own) => own.value)) }, tooltip },
        layer: [{ mark: { type: "bar", height: 13 } },
          { mark: { type: "text", align: "left", dx: 4 }, encoding: { text: { field: "value", format: "~s" } } }] },
    ],
  };
}
