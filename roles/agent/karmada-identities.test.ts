import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { virtualIdOf } from '@skerry/virtual-clusters'
import { startTestApiServer, until } from '@skerry/testing'
import { startTestKarmada, type TestKarmada } from '../../testing/scenes/test-karmada.ts'
import { createKarmadaIdentities } from './karmada-identities.ts'
import { openKarmadaIdentity } from './karmada-identity.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const edgeId = '6a1f2c7e-1111-4222-8333-944455566677'

interface Given {
  readonly directory: string
  readonly tokenFile: string
  /** Added to the clock's time. */
  readonly ahead: { ms: number }
}

/** Starts a registered agent of "bank", with what its virtual clusters need. */
async function startBank(karmada: TestKarmada, { directory, tokenFile, ahead }: Given) {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestApiServer())
  const stop = linkedSignal(soon())
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead.ms,
    monotonicMs: () => systemClock.monotonicMs() + ahead.ms,
  }
  const context = { ...deps, clock, metrics: createMetrics(), signal: stop.signal }
  const options = {
    directory,
    server: karmada.url,
    clusterName: 'bank',
    tokenFile,
    tokenText: undefined,
    caHash: undefined,
    authorityPem: karmada.caPem,
    readClusterId: async () => edgeId,
  }
  const parent = await openKarmadaIdentity(options, context)
  const local = createCluster(edge.transport, { ...deps, userAgent: 'test' })
  const { identityOf, run } = createKarmadaIdentities(options, { local, parent }, context)
  const running = run(stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  return { identityOf, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function openHome(): Promise<Given & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), 'skerry-identities-'))
  return {
    directory: join(home, 'agent'),
    tokenFile: join(home, 'token'),
    ahead: { ms: 0 },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}

function clusterCalled(name: string) {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Pull' as const, id: virtualIdOf(edgeId, name) },
  }
}

async function reasonOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
    return 'done'
  } catch (error) {
    if (error instanceof StatusError) return error.reason
    throw error
  }
}

test('each virtual cluster has an identity of its own at Karmada, reaches its own objects alone, and renews itself', async () => {
  await using karmada = await startTestKarmada()
  await using home = await openHome()
  await writeFile(home.tokenFile, await karmada.createToken('abcdef'))
  {
    await using bank = await startBank(karmada, home)
    const east = bank.identityOf('bank-east').hub.resource(clusterResource)
    const west = bank.identityOf('bank-west').hub.resource(clusterResource)
    const made = [
      east.create(clusterCalled('bank-east'), soon()),
      west.create(clusterCalled('bank-west'), soon()),
    ]
    assert.deepEqual(await Promise.all(made.map(reasonOf)), ['done', 'done'])
    const asked = [
      east.get({ name: 'bank-east' }, soon()),
      east.get({ name: 'bank-west' }, soon()),
      west.delete({ name: 'bank-east' }, soon()),
    ]
    assert.deepEqual(await Promise.all(asked.map(reasonOf)), ['done', 'Forbidden', 'Forbidden'])
  }
  // The existing identity is used again, without a token; 22 hours of its one day are over.
  await rm(home.tokenFile)
  const path = join(home.directory, 'clusters', 'bank-east', 'agent.crt')
  const first = await readFile(path, 'utf8')
  home.ahead.ms += 22 * 3_600_000
  await using again = await startBank(karmada, home)
  const { hub, release } = again.identityOf('bank-east')
  await hub.resource(clusterResource).get({ name: 'bank-east' }, soon())
  await until(async () => (await readFile(path, 'utf8')) !== first)
  await hub.resource(clusterResource).get({ name: 'bank-east' }, soon())
  await release?.(soon())
  assert.deepEqual(await readdir(join(home.directory, 'clusters')), ['bank-west'])
  const { items } = await karmada.admin.resource(resources.clusterRoleBindings).list({}, soon())
  const rights = items.map(({ metadata }) => metadata.name ?? '')
  assert.deepEqual(rights.filter((name) => name.startsWith('system:karmada:')).toSorted(), [
    'system:karmada:bank-west:agent',
    'system:karmada:bank:agent',
  ])
})

test('a new group without a good token says what it waits for, and has it soon after one is there', async () => {
  await using karmada = await startTestKarmada()
  await using home = await openHome()
  await writeFile(home.tokenFile, await karmada.createToken('abcdef'))
  await using bank = await startBank(karmada, home)
  await karmada.deleteToken('abcdef')
  const { hub, release } = bank.identityOf('bank-east')
  const clusters = hub.resource(clusterResource)
  await assert.rejects(
    clusters.get({ name: 'bank-east' }, soon()),
    /Cannot register cluster "bank-east" with .*: token abcdef is unknown there or expired; pass the token .*karmadactl token create/,
  )
  // Its group may be deleted, because it has nothing at Karmada.
  await release?.(soon())
  const next = bank.identityOf('bank-east').hub.resource(clusterResource)
  await assert.rejects(next.get({ name: 'bank-east' }, soon()), /token abcdef is unknown/)
  await writeFile(home.tokenFile, await karmada.createToken('fedcba'))
  home.ahead.ms += 60_000
  await next.create(clusterCalled('bank-east'), soon())
})

test('a virtual cluster takes no name that another cluster has at Karmada', async () => {
  await using karmada = await startTestKarmada()
  await using home = await openHome()
  await writeFile(home.tokenFile, await karmada.createToken('abcdef'))
  const other = { ...clusterCalled('bank-east'), spec: { syncMode: 'Pull' as const, id: 'other' } }
  await karmada.admin.resource(clusterResource).create(other, soon())
  await using bank = await startBank(karmada, home)
  const { hub } = bank.identityOf('bank-east')
  await assert.rejects(
    hub.resource(clusterResource).get({ name: 'bank-east' }, soon()),
    /Karmada knows another cluster under that name/,
  )
})
