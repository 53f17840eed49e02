const safeCharacters = 'bcdfghjklmnpqrstvwxz2456789'
const offset = 0x811c9dc5
const prime = 0x01000193

/** The subject of a Work. */
export interface WorkSubject {
  readonly kind: string
  /** Absent of a cluster-scoped object. */
  readonly namespace?: string
  readonly name: string
}

/** The name of the Work that carries an object, as Karmada derives it: `nginx-687f7fb96f`. */
export function workNameOf({ kind, namespace = '', name }: WorkSubject): string {
  // Names of roles have colons and capitals, which no Work's name may have.
  const plain = name.replaceAll(':', '.').toLowerCase()
  const whole = `${namespace === '' ? '' : `${namespace}-`}${plain}-${kind}`.toLowerCase()
  return `${plain}-${safeHash(whole)}`
}

/** A hash that may be part of a name or of a label's key: at most 10 characters. */
export function safeHash(text: string): string {
  return safeText(String(fnv32a(text)))
}

/** FNV-1a, 32 bits; never negative. */
export function fnv32a(text: string): number {
  let hash = offset
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, prime) >>> 0
  return hash
}

/** Encodes as Kubernetes' SafeEncodeString does: without vowels, so that no words appear. */
function safeText(digits: string): string {
  return Array.from(digits, (digit) => safeCharacters[digit.charCodeAt(0) % 27] ?? '').join('')
}
