/** A block of a PEM text, its bytes still in base64. */
export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly base64: string
  /** True if it begins like every certificate: a DER sequence with a length of two bytes or more. */
  readonly isLongSequence: boolean
}

const block = /^-----BEGIN ([^\n]*)-----[ \t\r]*\n([^]*?)^-----END \1-----/gm

/** RFC 7468, and as lenient as upstream's reader: text outside of blocks means nothing. */
export function pemBlocks(text: string): PemBlock[] {
  const found = Array.from(text.matchAll(block), ([, type = '', body = '']) => {
    const lines = body.split('\n').map((line) => line.trim())
    const headersMax = lines.findLastIndex((line) => line.includes(':')) + 1
    const base64 = lines.slice(headersMax).join('')
    return {
      type,
      hasHeaders: headersMax > 0,
      base64,
      isLongSequence: /^MI[GHI]/.test(base64),
    }
  })
  return found.filter(({ base64 }) => base64.length % 4 === 0 && isBase64.test(base64))
}

/** A block of other text is not one. */
const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/
