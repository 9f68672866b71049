// Light or dark: what the system prefers, until somebody chooses.

const theme = {
  listeners: [],
  chosen: null,
  system: window.matchMedia("(prefers-color-scheme: dark)"),

  get isDark() { return this.chosen === null ? this.system.matches : this.chosen === "dark"; },

  apply() {
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    const other = this.isDark ? "Light" : "Dark";
    $("theme").textContent = other;  // what it does, not what is
    $("theme").title = `${other} colours`;
    for (const listener of this.listeners) listener();
  },

  start() {
    // A page that is opened from a file may have no storage.
    try { this.chosen = localStorage.getItem("sparkrules-theme"); } catch { /* the system's then */ }
    this.system.addEventListener("change", () => this.apply());
    $("theme").addEventListener("click", () => {
      this.chosen = this.isDark ? "light" : "dark";
      try { localStorage.setItem("sparkrules-theme", this.chosen); } catch { /* for this visit only */ }
      this.apply();
    });
    this.apply();
  },

  color(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); },
};
