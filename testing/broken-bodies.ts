import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Bodies of requests whose clients break off, from at once to after some bytes. */
export const brokenBodies: Readonly<Record<string, () => AsyncIterable<Uint8Array>>> = {
  'that cannot be begun': () => ({ [Symbol.asyncIterator]: breakOff }),
  'that throws instead of waiting': () => reading(breakOff),
  'that fails with its first piece': () => reading(async () => breakOff()),
  'that fails a turn later': () => reading(async () => breakOff(await nextTurn())),
  'that fails after its first piece': async function* () {
    yield Buffer.from('one')
    breakOff()
  },
  'that has failed already': () => {
    const body = Readable.from([])
    body.on('error', () => undefined).destroy(new Error('it broke off'))
    return body
  },
}

function breakOff(_after?: unknown): never {
  throw new Error('it broke off')
}

function reading(next: () => Promise<never>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next }) }
}
