/**
 * Opens a site's store in a machine whose power will be cut, prints what is in it, and writes until then; a line for each
 * acknowledged write. The file /run/go has its seed and the number of the boot. Run: node store-writer.mjs PATH
 */
import { readFileSync, writeSync } from 'node:fs'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore, type SqliteStore } from '@skerry/store'
import type { KeyWrite } from './acknowledged-writes.ts'
import { digestOf, plannedWrites, writersCount } from './planned-writes.ts'

const [path = ''] = process.argv.slice(2)
const [seed = '', boot = ''] = readFileSync('/run/go', 'utf8').trim().split(' ')
const startMs = performance.now()
// A site opens it in the same way.
const deps = { clock: systemClock, log: silentLogger }
const store = await openSqliteStore(path, { hasReserve: true }, deps)
const openMs = Math.round(performance.now() - startMs)
const { entries, revision } = await store.list({ prefix: '/cut/' })
for (const { key, value, isDamaged } of entries) {
  print(`has ${key} ${isDamaged ? 'damaged' : digestOf(value)}`)
}
print(`revision ${revision} ${openMs}`)
await Promise.all(Array.from({ length: writersCount }, (_, writer) => writeOn(writer)))

async function writeOn(writer: number): Promise<void> {
  const plan = { seed: Number(seed), boot: Number(boot), writer }
  let count = 0
  for (const write of plannedWrites(plan)) {
    const { revision: newest } = await apply(store, write)
    print(`acknowledged ${writer} ${newest}`)
    count += 1
    if (writer === 0 && count % 40 === 0) await store.compact(newest)
  }
}

async function apply(to: SqliteStore, [first, ...others]: readonly KeyWrite[]) {
  if (first === undefined) throw new TypeError('Cannot write nothing')
  const companions = []
  for (const { key, content } of others) {
    const { entry } = await to.get(key)
    companions.push({ key, ...valueOf(content), expectRevision: entry?.modRevision ?? 0 })
  }
  const result = await to.write({ key: first.key, ...valueOf(first.content), companions })
  if (!result.isApplied) throw new Error(`Cannot write ${first.key}: another writer has its key`)
  return result
}

function valueOf(content: string | undefined): { value?: Uint8Array } {
  return content === undefined ? {} : { value: new TextEncoder().encode(content) }
}

/** Prints at once: a line in a buffer of this process would be lost with the power. */
function print(line: string): void {
  writeSync(1, `${line}\n`)
}
