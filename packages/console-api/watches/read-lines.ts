import type { ApiAnswer } from '@skerry/apiserver'

/** Reports that an answer is larger than its reader takes. */
export class TooLargeError extends Error {
  override name = 'TooLargeError'
}

async function* piecesOf(body: ApiAnswer['body']): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

/** Reads a whole body. Throws TooLargeError above the bound. */
export async function wholeText(body: ApiAnswer['body'], bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of piecesOf(body)) {
    length += part.length
    if (length > bytesMax) throw new TooLargeError(`more than ${bytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const newline = 10

/** Splits a body into lines. Throws TooLargeError for one that is longer than the bound. */
export async function* linesOf(
  body: ApiAnswer['body'],
  lineBytesMax: number,
): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of piecesOf(body)) {
    const bytes = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece])
    const end = bytes.lastIndexOf(newline)
    rest = bytes.subarray(end + 1)
    if (rest.length > lineBytesMax) throw new TooLargeError(`a line of over ${lineBytesMax} bytes`)
    if (end < 0) continue
    yield bytes.subarray(0, end).toString('utf8').split('\n')
  }
}
