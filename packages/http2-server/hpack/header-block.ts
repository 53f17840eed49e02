import { staticFields } from './static-table.ts'

/** Fields in HPACK. It refers to no table of a connection, so that every connection may send it. */
export type HeaderBlock = Buffer

/**
 * Writes fields as one block (RFC 7541, section 6). Names must be in small letters. Throws TypeError for a character
 * that would start another field.
 */
export function headerBlock(fields: Readonly<Record<string, string | number>>): HeaderBlock {
  const parts: Buffer[] = []
  for (const [name, field] of Object.entries(fields)) {
    const value = String(field)
    // oxlint-disable-next-line no-control-regex -- RFC 9113, section 8.2.1
    if (/[\0\r\n]/.test(value)) throw new TypeError(`Cannot send field ${name}: a line ends in it`)
    const whole = fullIndexes.get(`${name}\n${value}`)
    if (whole !== undefined) {
      parts.push(Buffer.of(0x80 | whole))
      continue
    }
    const known = nameIndexes.get(name)
    // A literal that no table keeps.
    parts.push(numberOf(known ?? 0, 0x0f))
    if (known === undefined) parts.push(textOf(name))
    parts.push(textOf(value))
  }
  return Buffer.concat(parts)
}

function textOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([numberOf(bytes.length, 0x7f), bytes])
}

function numberOf(value: number, mask: number): Buffer {
  if (value < mask) return Buffer.of(value)
  const bytes = [mask]
  let rest = value - mask
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}

const fullIndexes = new Map(
  staticFields.flatMap(([name, value], at) =>
    value === '' ? [] : [[`${name}\n${value}`, at + 1] as const],
  ),
)
/** The first field of a name counts, as its index is the shortest. */
const nameIndexes = new Map(staticFields.map(([name], at) => [name, at + 1] as const).toReversed())
