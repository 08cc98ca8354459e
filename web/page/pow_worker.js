// Finds the number with SHA-256(salt + number) == challenge. Its own SHA-256: crypto.subtle is
// absent on plain http, and asking it 50,000 times is slower.
const round_constants = new Int32Array(64);
const first_state = new Int32Array(8);
{
  // The fractional parts of roots of the first primes.
  const fraction = (x) => (x - Math.floor(x)) * 2 ** 32;
  for (let n = 2, found = 0; found < 64; ++n) {
    let is_prime = true;
    for (let d = 2; d * d <= n; ++d) if (n % d == 0) is_prime = false;
    if (!is_prime) continue;
    if (found < 8) first_state[found] = fraction(Math.sqrt(n));
    round_constants[found++] = fraction(Math.cbrt(n));
  }
}

const words = new Int32Array(64);

// Puts one block of 64 bytes into the state.
function compress(state, bytes, at) {
  for (let i = 0; i < 16; ++i, at += 4) {
    words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; ++i) {
    const x = words[i - 15];
    const y = words[i - 2];
    words[i] =
      (words[i - 16] +
        words[i - 7] +
        (((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)) +
        (((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10))) |
      0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; ++i) {
    const s =
      (h +
        (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))) +
        ((e & f) ^ (~e & g)) +
        round_constants[i] +
        words[i]) |
      0;
    const t = ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + s) | 0;
    d = c;
    c = b;
    b = a;
    a = (s + t) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function solve({ salt, challenge, maxnumber }) {
  const target = new Int32Array(8).map((_, i) => parseInt(challenge.slice(8 * i, 8 * i + 8), 16));
  // Whole blocks of the salt are the same for every number.
  const begun = first_state.slice();
  const whole = salt.length & ~63;
  const bytes = new Uint8Array(192);
  const state = new Int32Array(8);
  for (let i = 0; i < salt.length; ++i) bytes[i] = salt.charCodeAt(i);
  for (let at = 0; at < whole; at += 64) compress(begun, bytes, at);

  for (let number = 0; number <= maxnumber; ++number) {
    const digits = "" + number;
    const size = salt.length + digits.length;
    for (let i = 0; i < digits.length; ++i) bytes[salt.length + i] = digits.charCodeAt(i);
    const end = (size + 72) & ~63;
    bytes.fill(0, size, end);
    bytes[size] = 128;
    bytes[end - 1] = size * 8;
    bytes[end - 2] = size >> 5;
    state.set(begun);
    for (let at = whole; at < end; at += 64) compress(state, bytes, at);
    if (state[0] == target[0] && state.every((word, i) => word == target[i])) return number;
  }
  return -1;
}

onmessage = (event) => postMessage(solve(event.data));
