import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom, silentLogger } from '@skerry/base'
import { ObjectDisk } from '../store/object-disk.ts'

/**
 * Keeps objects of a node below the given directory, and ends. Lines of JSON on stdout are KeptObjects: each change
 * before it begins, and again once it is on the disk.
 */
export interface KeptObject {
  readonly key: string
  /** Omitted once the object is removed. */
  readonly text?: string
  readonly isKept: boolean
}

const [root = ''] = process.argv.slice(2)
const disk = new ObjectDisk(join(root, 'node', 'store'), silentLogger)
const random = seededRandom(1)
for (let count = 0; count < 120; count += 1) {
  const key = `shop/${Math.floor(random.next() * 4)}`
  const text = random.next() < 0.2 ? undefined : `${count} ${'v'.repeat(random.next() * 3_000)}.`
  const change = { key, ...(text === undefined ? {} : { text }) }
  tell({ ...change, isKept: false })
  const entry = { resource: 'pods', key }
  if (text === undefined) disk.remove(entry)
  else
    disk.put(entry, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: key, annotations: { text } },
    })
  await disk.flush()
  tell({ ...change, isKept: true })
}

function tell(change: KeptObject): void {
  writeSync(1, `${JSON.stringify(change)}\n`)
}
