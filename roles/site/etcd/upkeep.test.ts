/** The care of a master for an etcd of its own, with a real one. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  messageOf,
  simulatedClock,
  silentLogger,
  systemClock,
  type SimulatedClock,
} from '@skerry/base'
import { ensureEtcdPki, etcdPkiPaths } from '@skerry/bootstrap'
import {
  openEtcdStore,
  StoreFullError,
  StoreUnavailableError,
  type EtcdMemberClient,
  type EtcdStore,
} from '@skerry/store'
import { errorLogger, startTestEtcd, until, whyNoEtcd } from '@skerry/testing'
import { siteBounds } from '../limits-table.ts'
import { etcdFiles } from './embedded-options.ts'
import { MemberClients } from './member-clients.ts'
import { keepMembers } from './upkeep.ts'
import { MemberWatch } from './watch-members.ts'

const skip = await whyNoEtcd()
const quotaBytes = 16 * 1024 * 1024
const { lookMs, learnerMs } = siteBounds.etcd.upkeep
const nowhere = new AbortController().signal

interface Scene extends AsyncDisposable {
  readonly store: EtcdStore
  readonly clock: SimulatedClock
  /** The lines that ask a person to act. */
  readonly errors: readonly string[]
  readonly member: EtcdMemberClient
  readonly watch: MemberWatch
}

/** One member with a small quota, and the care of a master who takes the other number for its quota. */
async function openScene(takenForQuota = quotaBytes): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-upkeep-'))
  stack.defer(() => rm(dataDir, { recursive: true }))
  const files = etcdFiles(dataDir)
  await mkdir(files.root)
  const ipAddresses = ['127.0.0.1']
  await ensureEtcdPki({ directory: files.pki, memberName: 'default', ipAddresses }, systemClock)
  const { certificatePath: ca } = etcdPkiPaths(files.pki, 'ca')
  const { certificatePath: cert, keyPath: key } = etcdPkiPaths(files.pki, 'server')
  const etcd = stack.use(await startTestEtcd({ tls: { ca, cert, key }, quotaBytes }))
  // From its second start on, the member lists the port that it took at the first.
  await etcd.kill()
  await etcd.start()
  const { endpoint } = etcd
  // Only the care for the members runs by the simulated clock: answers of etcd take their time.
  const clients = stack.use(await MemberClients.open(files.pki, systemClock))
  const stopping = new AbortController()
  const { signal } = stopping
  const { log, lines: errors } = errorLogger()
  const deps = { clock: systemClock, log, clients, files }
  const urls = { name: 'default', peerUrl: endpoint, clientUrl: endpoint }
  const watch = new MemberWatch({ ...urls, prefix: '/site', stage: 'member', others: [] }, deps)
  await until(async () => {
    await watch.look(signal)
    return watch.isLeader
  })
  const options = { ...clients.endpoints(endpoint), prefix: '/site' }
  const clocked = { clock: systemClock, log: silentLogger }
  const store = stack.use(await openEtcdStore(options, clocked, signal))
  const clock = simulatedClock()
  const care = keepMembers(takenForQuota, { ...deps, clock, watch }, signal).catch(() => undefined)
  stack.defer(() => care)
  stack.defer(() => stopping.abort(new Error('The test has ended')))
  const member = clients.at(endpoint)
  const owned = stack.move()
  const dispose = (): Promise<void> => owned.disposeAsync()
  return { store, clock, errors, member, watch, [Symbol.asyncDispose]: dispose }
}

const value = Buffer.alloc(512 * 1024, 'x')

/** Writes until etcd refuses. Each value has a key, or all have the same. */
async function fill(store: EtcdStore, keyOf: (at: number) => string): Promise<void> {
  let count = 0
  await until(async () => {
    try {
      count += 1
      await store.write({ key: keyOf(count), value })
      return false
    } catch (error) {
      // A busy disk may keep etcd from an answer.
      if (error instanceof StoreUnavailableError) return false
      assert.ok(error instanceof StoreFullError, messageOf(error))
      return true
    }
  })
}

test(
  'a full etcd accepts deletes, gives their room back once it is compacted, and then accepts writes',
  { skip },
  async () => {
    await using scene = await openScene()
    const { store, clock, member } = scene
    await fill(store, () => '/changed')
    const { revision } = await store.write({ key: '/changed' })
    await store.compact(revision)
    await until(async () => {
      await clock.advance(lookMs)
      return store.write({ key: '/again', value }).catch(() => undefined)
    })
    assert.ok((await member.status(nowhere)).dbSizeBytes < quotaBytes / 2)
  },
)

test(
  'a full etcd whose objects need the room stays closed, and its log says what to do',
  { skip },
  async () => {
    // Holes in the file, which are given back, are at most some of its sixteen megabytes.
    await using scene = await openScene(quotaBytes / 2)
    const { store, clock, errors } = scene
    await fill(store, (at) => `/object-${at}`)
    await until(async () => {
      await clock.advance(lookMs)
      return errors.length > 0
    })
    assert.match(errors[0] ?? '', /delete objects, or raise --etcd-quota-bytes/)
    await assert.rejects(store.write({ key: '/more', value }), StoreFullError)
  },
)

test('a master that was lost while it joined makes room for another one', { skip }, async () => {
  await using scene = await openScene()
  const { clock, member, watch } = scene
  const lost = await member.addLearner('https://127.0.0.1:1', nowhere)
  await watch.look(nowhere)
  await clock.advance(learnerMs - lookMs)
  assert.ok((await member.members(nowhere)).some(({ id }) => id === lost.id))
  await until(async () => {
    await clock.advance(lookMs)
    return !(await member.members(nowhere)).some(({ id }) => id === lost.id)
  })
  await member.addLearner('https://127.0.0.1:2', nowhere)
})
