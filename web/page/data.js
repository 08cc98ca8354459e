// What the server wrote into the page.
export const $ = (id) => document.getElementById(id);
export const data = JSON.parse($("data").textContent);
