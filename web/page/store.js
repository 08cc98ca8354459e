// What this browser remembers. Where it may not remember anything, the page still works.
export function recall(name) {
  let text = null;
  try {
    text = localStorage.getItem(name);
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function keep(name, value) {
  try {
    if (value) localStorage.setItem(name, typeof value == "string" ? value : JSON.stringify(value));
    else localStorage.removeItem(name);
  } catch {
    // Full or forbidden.
  }
}
