import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom, silentLogger, simulatedClock, type Random } from '@skerry/base'
import { openSqliteStore, type SqliteStore } from '../sqlite-store.ts'

/**
 * Works on a store in a new directory below the given one, in two lives, and ends. Lines of JSON on stdout are
 * PowerWrites: each write before it begins, and again once it is acknowledged.
 */
export interface PowerWrite {
  readonly key: string
  /** 0 before the write begins. */
  readonly revision: number
  /** Omitted for a delete. */
  readonly text?: string
  /** True if a power cut may lose it. */
  readonly isRelaxed?: boolean
}

const [root = ''] = process.argv.slice(2)
const path = join(root, 'data', 'site', 'store.db')
const writers = 5
const writesEach = 28
const relaxedDelayMs = 1_000
const clock = simulatedClock()

for (const life of [1, 2]) {
  // A short write-ahead log is merged into the main file, and begun again, many times.
  const limits = {
    walPagesMax: 60,
    compactionSliceRevisions: 20,
    relaxedRevisions: 30,
    relaxedDelayMs,
  }
  const deps = { clock, log: silentLogger }
  await using store = await openSqliteStore(path, { limits }, deps)
  await Promise.all(Array.from({ length: writers }, (_, writer) => writeOn(store, life, writer)))
  await calmDay(store, life)
}

/** Most writes are relaxed, one of seven is durable, and now and then a while passes. */
async function calmDay(store: SqliteStore, life: number): Promise<void> {
  const random = seededRandom(life)
  for (let count = 0; count < 60; count += 1) {
    const isRelaxed = count % 7 !== 6
    const key = isRelaxed ? `/power/lease/${count % 3}` : '/power/durable'
    await put(store, key, textOf(key, `${life}.${count}`, random), isRelaxed)
    if (count % 25 === 24) await clock.advance(relaxedDelayMs)
    if (count % 20 === 19) await store.compact((await store.revision()) - 15)
  }
}

async function writeOn(store: SqliteStore, life: number, writer: number): Promise<void> {
  const random = seededRandom(life * 100 + writer)
  for (let count = 0; count < writesEach; count += 1) {
    const key = `/power/${writer}/${Math.floor(random.next() * 6)}`
    if (random.next() < 0.15) {
      tell({ key, revision: 0 })
      const { revision } = await store.write({ key })
      tell({ key, revision })
    } else await put(store, key, textOf(key, `${life}.${count}`, random))
    if (writer === 0 && count % 10 === 9) await store.compact((await store.revision()) - 5)
  }
}

async function put(
  store: SqliteStore,
  key: string,
  text: string,
  isRelaxed = false,
): Promise<void> {
  tell({ key, revision: 0, text })
  const { revision } = await store.write({ key, value: Buffer.from(text), isRelaxed })
  tell({ key, revision, text, isRelaxed })
}

/** Most values are small; some have pages of their own. */
function textOf(key: string, name: string, random: Random): string {
  const size = random.next() < 0.1 ? 9_000 : Math.floor(random.next() * 700)
  return `${key} ${name} ${'v'.repeat(size)}.`
}

/** Synchronous, so that the line is on its way before the next write begins. */
function tell(write: PowerWrite): void {
  writeSync(1, `${JSON.stringify(write)}\n`)
}
