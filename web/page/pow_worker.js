// Finds the number with SHA-256(salt + number) == challenge. Its own SHA-256: crypto.subtle is
// absent on plain http, and asking it 50,000 times is slower.
const round_constants = [];
const first_state = [];
// The fractional parts of roots of the first primes.
for (let n = 2; round_constants.length < 64; ++n) {
  let d = 2;
  while (n % d) ++d;
  if (d < n) continue;
  first_state.push((Math.sqrt(n) * 2 ** 32) | 0);
  round_constants.push((Math.cbrt(n) * 2 ** 32) | 0);
}

const words = new Int32Array(64);
const turn = (x, bits) => (x >>> bits) | (x << (32 - bits));

// Puts one block of 64 bytes into the state.
function compress(state, block, at) {
  for (let i = 0; i < 64; ++i) {
    const x = words[i - 15];
    const y = words[i - 2];
    words[i] =
      i < 16
        ? block.getInt32(at + 4 * i)
        : words[i - 16] +
          words[i - 7] +
          (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) +
          (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; ++i) {
    const s = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + round_constants[i] + words[i];
    const t = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + s) | 0;
    d = c;
    c = b;
    b = a;
    a = (s + t) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}

onmessage = ({ data: { salt, challenge, maxnumber } }) => {
  // Two words of the hash are enough to know it by.
  const [first, second] = [0, 8].map((at) => parseInt(challenge.slice(at, at + 8), 16) | 0);
  const bytes = new Uint8Array(192);
  const block = new DataView(bytes.buffer);
  const begin = first_state.slice(0, 8);
  for (let number = 0; number <= maxnumber; ++number) {
    const text = salt + number;
    const size = text.length;
    const end = (size + 72) & ~63;
    for (let i = 0; i < end; ++i) bytes[i] = i < size ? text.charCodeAt(i) : 0;
    bytes[size] = 128;
    bytes[end - 2] = size >> 5;
    bytes[end - 1] = size << 3;
    const state = new Int32Array(begin);
    for (let at = 0; at < end; at += 64) compress(state, block, at);
    if (state[0] == first && state[1] == second) return postMessage(number);
  }
  postMessage(-1);
};
