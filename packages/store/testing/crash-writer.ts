import { writeSync } from 'node:fs'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore } from '../sqlite-store.ts'

/**
 * Writes until it is killed; one line "key revision" on stdout per acknowledged write.
 * Arguments: store path, a name for this life's keys, and `relaxed` for writes that a power cut may lose.
 */
const [path = '', life = '', mode = ''] = process.argv.slice(2)
const isRelaxed = mode === 'relaxed'
const store = await openSqliteStore(path, {}, { clock: systemClock, log: silentLogger })
const writers = 8
await Promise.all(Array.from({ length: writers }, (_, writer) => writeOn(writer)))

async function writeOn(writer: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const key = `/crash/${life}/${writer}/${count}`
    const value = new TextEncoder().encode(key)
    const { revision } = await store.write({ key, value, isRelaxed })
    // The write is synchronous, because acknowledgements must reach the parent before the kill
    // does.
    writeSync(1, `${key} ${revision}\n`)
    if (count % 50 === 49) await store.write({ key: `/crash/${life}/${writer}/${count - 10}` })
    if (writer === 0 && count % 100 === 99) await store.compact(revision)
  }
}
