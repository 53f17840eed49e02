/** Writes DER (X.690), as far as a signing request needs it. */
export const derTags = Object.freeze({
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
})

/** Encodes one value: tag, length, and its parts one after another. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

export function derText(tag: number, text: string): Buffer {
  return der(tag, Buffer.from(text, 'utf8'))
}

export function derBits(bytes: Uint8Array): Buffer {
  return der(derTags.bitString, Buffer.from([0]), bytes)
}

/** Encodes a dotted object identifier, e.g. 2.5.4.3. */
export function derObjectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap(base128)
  return der(derTags.objectIdentifier, Buffer.from(bytes))
}

/** Encodes seven bits per byte, with the highest bit set on all except the last. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}
