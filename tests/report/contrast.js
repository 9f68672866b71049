// Texts that are hard to read: less contrast than 4.5 (3 for large ones). Returns a line for each.
const channel = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const numbers = (color) => color.match(/[\d.]+/g).map(Number);
const behind = (element) => {
  for (let own = element; own; own = own.parentElement) {
    const color = numbers(getComputedStyle(own).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("svg, script, :disabled, .visually-hidden"))
    continue;
  const style = getComputedStyle(element);
  const [a, b] = [luminance(numbers(style.color)), luminance(behind(element))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) found.push(`${contrast.toFixed(2)} ${walker.currentNode.data.trim()}`);
}
return [...new Set(found)];
