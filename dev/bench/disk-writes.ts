import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { defaultPeerCache } from '../hack/upstream/build-peers.ts'
import { openEtcd, openKine, openOurs, type Datastore } from './disk-writes/datastores.ts'
import { mountMeasuredDisk } from './disk-writes/measured-disk.ts'
import { busyDay, idleDay, scriptedDay, type DayWrite } from './disk-writes/scripted-day.ts'
import { alone, beside, type BenchOptions, type Figure } from './measure/figure.ts'

type Open = (directory: string) => Promise<Datastore>

const ratioMax = 0.5
/** MB of 10^6 bytes. */
const idleDayMax = 50
const putsCount = 2_000
const putKeys = 500
const valueBytes = 1_024

/** Measures what a disk is given: for each durable write, for a day with a little to do, and for an idle day. */
export async function run({ rounds, upstream, only }: BenchOptions): Promise<Figure[]> {
  if (process.getuid?.() !== 0) {
    const text = 'Cannot measure: a disk that counts needs root; run it with sudo'
    throw new ExpectedError(text, exitCodes.missingRight)
  }
  const peers = await findPeers(upstream, only)
  const figures: Figure[] = []
  const puts = durablePuts()
  const day = scriptedDay(busyDay)
  const loads = [
    { name: 'disk.bytes-per-write', unit: 'bytes', writes: puts, per: puts.length, goal: null },
    { name: 'disk.day', unit: 'MB', writes: day, per: 1e6, goal: ratioMax },
  ]
  for (const { name, unit, writes, per, goal } of loads) {
    const ours: number[] = []
    const theirs = new Map(peers.map(({ peer }) => [peer, [] as number[]]))
    for (let round = 0; round < rounds; round += 1) {
      ours.push((await measure(openOurs, writes)) / per)
      for (const { peer, open } of peers)
        theirs.get(peer)?.push((await measure(open, writes)) / per)
    }
    for (const [peer, values] of theirs) {
      figures.push(beside(`${name}.${peer}`, { unit, ours, peer: values, goal }))
    }
  }
  const idle = await measure(openOurs, scriptedDay(idleDay))
  return [...figures, alone('disk.idle-day', 'MB', idle / 1e6, idleDayMax)]
}

interface Peer {
  readonly peer: string
  readonly open: Open
}

/** Returns the peers that are measured. Throws ExpectedError when the program of one is missing. */
async function findPeers(upstream: string, only: readonly string[] | undefined): Promise<Peer[]> {
  const bin = join(defaultPeerCache, 'bin')
  const all = [
    { peer: 'etcd', program: join(upstream, 'etcd'), open: openEtcd, words: 'build etcd' },
    { peer: 'kine', program: join(bin, 'kine'), open: openKine, words: 'peers kine' },
  ]
  const peers: Peer[] = []
  for (const { peer, program, open, words } of all) {
    if (only !== undefined && !only.includes(peer)) continue
    await access(program).catch((error: unknown) => {
      const remedy = `build it by dev/hack/upstream/upstream.ts ${words}, or leave it out by --only`
      const text = `Cannot compare: ${program} is missing; ${remedy}`
      throw new ExpectedError(text, exitCodes.missingDependency, { cause: error })
    })
    peers.push({ peer, open: (directory) => open(program, directory) })
  }
  return peers
}

/** Returns the bytes that a new disk was given by these writes and an orderly stop. Making the store does not count. */
async function measure(open: Open, writes: readonly DayWrite[]): Promise<number> {
  await using disk = await mountMeasuredDisk()
  const store = await open(disk.path)
  let before: number
  try {
    before = await disk.bytesWritten()
    for (const write of writes) await store.write(write)
  } finally {
    await store[Symbol.asyncDispose]()
  }
  return (await disk.bytesWritten()) - before
}

/** Puts of one writer that waits for each, over a few hundred keys. */
function durablePuts(): DayWrite[] {
  return Array.from({ length: putsCount }, (_, index) => ({
    atMs: index,
    key: `/registry/configMap/default/put-${index % putKeys}`,
    value: Buffer.alloc(valueBytes, `${index} `),
    isRelaxed: false,
  }))
}
