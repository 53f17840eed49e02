import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom, silentLogger, systemClock } from '@skerry/base'
import { openEtcdEngine, type EtcdEngine } from '../engine/etcd-engine.ts'

/**
 * Changes three keys together, again and again, in two lives of a store below the given directory, and ends. Lines of
 * JSON on stdout are PowerPuts: each before it begins, and again once it is acknowledged.
 */
export interface PowerPut {
  /** The value of all three keys. If omitted, they are deleted. */
  readonly text?: string
  /** 0 before the change begins. */
  readonly revision: number
  readonly group: number
}

const [root = ''] = process.argv.slice(2)
const groups = 3

for (const life of [1, 2]) {
  const deps = { clock: systemClock, log: silentLogger, random: seededRandom(life) }
  const path = join(root, 'data', 'etcd', 'etcd.db')
  await using engine = await openEtcdEngine(path, { quotaBytes: 1e9, hasReserve: false }, deps)
  await Promise.all(Array.from({ length: groups }, (_, group) => changeGroup(engine, life, group)))
  await engine.compactionEnd()
}

async function changeGroup(engine: EtcdEngine, life: number, group: number): Promise<void> {
  const random = seededRandom(life * 100 + group)
  if (group === 0) await engine.grantLease(BigInt(life), 600)
  for (let count = 0; count < 30; count += 1) {
    const size = random.next() < 0.1 ? 9_000 : Math.floor(random.next() * 500)
    const text = `${life}.${count} ${'v'.repeat(size)}.`
    const change = random.next() < 0.15 ? { group } : { group, text }
    tell({ ...change, revision: 0 })
    tell({ ...change, revision: await apply(engine, change) })
    if (group === 0 && count % 10 === 9) await engine.compact(engine.revision - 5)
  }
}

async function apply(engine: EtcdEngine, { group, text }: Omit<PowerPut, 'revision'>) {
  const keys = [0, 1, 2].map((each) => Buffer.from(`${group}/${each}`))
  return engine.transact({ bytes: 0 }, (transaction) => {
    for (const key of keys) {
      if (text === undefined) transaction.delete({ from: key, isOneKey: true })
      else transaction.put(key, { value: Buffer.from(text), lease: 0n })
    }
    return transaction.revision
  })
}

/** Synchronous, so that the line is on its way before the next change begins. */
function tell(put: PowerPut): void {
  writeSync(1, `${JSON.stringify(put)}\n`)
}
