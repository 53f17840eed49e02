/**
 * Computes SHA-256 (FIPS 180-4) of a text's UTF-8 bytes. For short keys and document versions only:
 * this package may neither import node:crypto nor wait for Web Crypto's promises.
 */
export function sha256(text: string): Uint8Array {
  const state = Uint32Array.from(initialState)
  const message = padded(new TextEncoder().encode(text))
  const schedule = new Uint32Array(64)
  const view = new DataView(message.buffer)
  for (let offset = 0; offset < message.length; offset += 64) {
    fillSchedule(schedule, view, offset)
    compress(state, schedule)
  }
  const digest = new Uint8Array(32)
  const out = new DataView(digest.buffer)
  state.forEach((word, index) => out.setUint32(index * 4, word))
  return digest
}

const { initialState, roundConstants } = fractionsOfPrimes()

function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  message.set(bytes)
  message[bytes.length] = 0x80
  new DataView(message.buffer).setBigUint64(message.length - 8, BigInt(bytes.length) * 8n)
  return message
}

function fillSchedule(schedule: Uint32Array, view: DataView, offset: number): void {
  for (let index = 0; index < 16; index += 1) schedule[index] = view.getUint32(offset + index * 4)
  for (let index = 16; index < 64; index += 1) {
    const [w2, w7, w15, w16] = [2, 7, 15, 16].map((back) => schedule[index - back] ?? 0)
    const low = rotate(w15, 7) ^ rotate(w15, 18) ^ ((w15 ?? 0) >>> 3)
    const high = rotate(w2, 17) ^ rotate(w2, 19) ^ ((w2 ?? 0) >>> 10)
    schedule[index] = (w16 ?? 0) + low + (w7 ?? 0) + high
  }
}

function compress(state: Uint32Array, schedule: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let round = 0; round < 64; round += 1) {
    const chosen = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const mixedE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const mixedA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const first = (h + mixedE + chosen + (roundConstants[round] ?? 0) + (schedule[round] ?? 0)) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + mixedA + majority) | 0
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word
  })
}

function rotate(word = 0, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** The constants are the first 32 fraction bits of the roots of the first primes. */
function fractionsOfPrimes(): { initialState: number[]; roundConstants: number[] } {
  const primes: number[] = []
  for (let candidate = 2; primes.length < 64; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  const fraction = (root: number) => Math.floor((root % 1) * 2 ** 32)
  return {
    initialState: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
    roundConstants: primes.map((prime) => fraction(Math.cbrt(prime))),
  }
}
