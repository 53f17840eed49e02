/**
 * Each virtual cluster has its own identity at a hub, with which it registers, stays, and is revoked and
 * accepted again.
 */
import assert from 'node:assert/strict'
import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { connectByTcp, linkedSignal, systemClock } from '@skerry/base'
import { requestCertificate } from '@skerry/bootstrap'
import { createCluster, createHttpsTransport, resources, type ClusterClient } from '@skerry/client'
import {
  agentUserName,
  certificateExpiresKey,
  clusterResource,
  virtualAgentGroup,
  type Cluster,
} from '@skerry/fleet-kinds'
import {
  allowVirtualClusters,
  decideRegistration,
  pendingRegistrations,
  revokeAgent,
} from '@skerry/membership'
import { readCertificate, spkiHash } from '@skerry/pki'
import { failuresOfDamage, refusalProblem, until } from '@skerry/testing'
import { describeCluster, readCluster } from '../client/clusters/cluster-describe.ts'
import { freshToken, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { openAgentIdentity } from './agent-identity.ts'
import { createVirtualIdentities } from './virtual-identities.ts'

const soon = (): AbortSignal => AbortSignal.timeout(240_000)

function cluster(name: string): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Pull', id: name },
  }
}

interface Given {
  readonly directory?: string
  readonly identitySecret?: string
  /** Added to the clock's time. */
  readonly ahead?: { ms: number }
}

/** Starts the part of the agent of "bank" that holds its virtual clusters' identities. */
async function startBank(fleet: TestHub, given: Given = {}) {
  await using stack = new AsyncDisposableStack()
  const { directory = join(fleet.directory, 'agent-bank'), identitySecret } = given
  const { ahead = { ms: 0 } } = given
  const stop = linkedSignal(soon())
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead.ms,
    monotonicMs: () => systemClock.monotonicMs() + ahead.ms,
  }
  const context = { ...fleet.context, clock, signal: stop.signal }
  // The program connects in the same way.
  const connect = connectByTcp({ timeoutMs: 10_000, clock: systemClock })
  const options = { directory, hub: fleet.url, clusterName: 'bank', identitySecret, connect }
  const tokenText = await freshToken(fleet, 'bank')
  const registering = { ...options, tokenFile: undefined, tokenText, caHash: spkiHash(fleet.caPem) }
  const parent = await openAgentIdentity(registering, fleet.context)
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, soon())
  const parts = { local: fleet.admin, parent }
  const { identityOf, run } = createVirtualIdentities(options, parts, context)
  const running = run(stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const transport = stack.use(createHttpsTransport(parent.transport, { clock: systemClock }))
  const bank = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  const owned = stack.move()
  return {
    bank,
    parent,
    directory,
    identityOf,
    clustersOf: (name: string) => identityOf(name).hub.resource(clusterResource),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function apply(api: ClusterClient, name: string): Promise<void> {
  const request = { name, type: 'apply', patch: cluster(name), fieldManager: 'test' } as const
  await api.resource(clusterResource).patch({ ...request, force: true }, soon())
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

function certificateIn(directory: string, name: string): Promise<string> {
  return readFile(join(directory, 'clusters', name, 'agent.crt'), 'utf8')
}

test('each virtual cluster has a certificate of its own, for which its parent has asked', async () => {
  await using fleet = await startTestHub()
  await using started = await startBank(fleet)
  const { bank, clustersOf, directory } = started
  for (const name of ['bank-east', 'bank-west']) await apply(bank, name)
  const east = clustersOf('bank-east')
  const asked = [
    east.get({ name: 'bank-east' }, soon()),
    clustersOf('bank-west').get({ name: 'bank-west' }, soon()),
    east.get({ name: 'bank-west' }, soon()),
    east.get({ name: 'bank' }, soon()),
  ]
  const reasons = await Promise.all(asked.map(reasonOf))
  assert.deepEqual(reasons, ['done', 'done', 'Forbidden', 'Forbidden'])
  const { commonName, organizations } = readCertificate(await certificateIn(directory, 'bank-east'))
  assert.equal(commonName, agentUserName('bank-east'))
  assert.deepEqual(organizations, [virtualAgentGroup('bank')])
  const requests = fleet.admin.resource(resources.certificateSigningRequests)
  const { items } = await requests.list({}, soon())
  const askers = items.filter(({ metadata }) => metadata.name?.startsWith('bank-east-'))
  assert.deepEqual(
    askers.map(({ spec }) => spec?.username),
    [agentUserName('bank')],
  )
  // Its Cluster shows the certificate's expiry.
  const annotations = async () =>
    (await fleet.admin.resource(clusterResource).get({ name: 'bank-east' }, soon())).metadata
      .annotations ?? {}
  await until(async () => certificateExpiresKey in (await annotations()), soon())
  const facts = await readCluster(fleet.admin, 'bank-east', soon())
  const lines = describeCluster('bank-east', facts, Date.now()).join('\n')
  assert.match(lines, /^Certificate: +\d+\w* left, until 20/m)
})

test('a hub gives nobody a certificate of a cluster that is not theirs', async () => {
  await using fleet = await startTestHub()
  await using started = await startBank(fleet)
  const { bank, clustersOf } = started
  await apply(bank, 'bank-east')
  await apply(bank, 'bank-west')
  const clusters = fleet.admin.resource(clusterResource)
  for (const name of ['bank-own', 'shop']) await clusters.create(cluster(name), soon())
  const ask = (by: ClusterClient, name: string, organization: string) =>
    requestCertificate(
      by,
      {
        generateName: 'asked-',
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['digital signature', 'client auth'],
        subject: { commonName: agentUserName(name), organizations: [organization] },
      },
      fleet.context,
      soon(),
    )
  // The agent may neither ask for another cluster, nor for a free name, nor for one that another agent
  // registered.
  for (const name of ['shop', 'bank-own', 'bank-free']) {
    await assert.rejects(ask(bank, name, virtualAgentGroup('bank')), /no virtual cluster/)
  }
  await ask(bank, 'bank-east', virtualAgentGroup('bank'))
  await clustersOf('bank-east').get({ name: 'bank-east' }, soon())
  await ask(started.identityOf('bank-east').hub, 'bank-east', virtualAgentGroup('bank'))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: false }, soon())
  await assert.rejects(ask(bank, 'bank-east', virtualAgentGroup('bank')), /does not allow "bank"/)
})

test('one virtual cluster is revoked and let in again, and all go with their parent', async () => {
  await using fleet = await startTestHub()
  const ahead = { ms: 0 }
  await using started = await startBank(fleet, { ahead })
  const { bank, clustersOf } = started
  const names = ['bank-east', 'bank-west']
  for (const name of names) await apply(bank, name)
  const get = (name: string) => reasonOf(clustersOf(name).get({ name }, soon()))
  const seen = () => Promise.all(names.map(get))
  /** Lets time pass until the condition holds, because a refused request is not repeated at once. */
  const untilSeen = (wanted: readonly string[]) =>
    until(async () => {
      ahead.ms += 10_000
      return JSON.stringify(await seen()) === JSON.stringify(wanted)
    }, soon())
  assert.deepEqual(await seen(), ['done', 'done'])
  await revokeAgent(fleet.admin, { cluster: 'bank-east', nowMs: Date.now() }, soon())
  assert.deepEqual(await seen(), ['Unauthorized', 'done'])
  // Its parent requests another one, on which a person decides.
  await untilSeen(['Forbidden', 'done'])
  await assert.rejects(
    clustersOf('bank-east').get({ name: 'bank-east' }, soon()),
    /waits to be accepted: it was revoked; "skerry cluster accept bank-east"/,
  )
  const [one, ...others] = await pendingRegistrations(fleet.admin, soon())
  assert.equal(others.length, 0)
  assert.deepEqual([one?.cluster, one?.waitsFor], ['bank-east', 'it was revoked'])
  const decision = { request: one?.request ?? '', accepts: true, nowMs: Date.now() }
  await decideRegistration(fleet.admin, decision, soon())
  await untilSeen(['done', 'done'])
  assert.deepEqual(await pendingRegistrations(fleet.admin, soon()), [])
  await revokeAgent(fleet.admin, { cluster: 'bank', nowMs: Date.now() }, soon())
  assert.deepEqual(await seen(), ['Unauthorized', 'Unauthorized'])
  ahead.ms += 10_000
  assert.deepEqual(await seen(), ['Unauthorized', 'Unauthorized'])
  assert.deepEqual(await seen(), ['Unauthorized', 'Unauthorized'])
})

test('an agent that goes to another hub gets other certificates for its virtual clusters there', async () => {
  await using before = await startTestHub()
  await using after = await startTestHub()
  const directory = join(after.directory, 'agent-bank')
  for (const fleet of [before, after]) {
    await using started = await startBank(fleet)
    await apply(started.bank, 'bank-east')
    const clusters = started.clustersOf('bank-east')
    assert.equal(await reasonOf(clusters.get({ name: 'bank-east' }, soon())), 'done')
    const own = join(started.directory, 'clusters')
    if (fleet === before) await cp(own, join(directory, 'clusters'), { recursive: true })
  }
})

test('identities survive a restart, are issued again after their end, and go with the group', async () => {
  await using fleet = await startTestHub()
  const metadata = { namespace: 'kube-system', name: 'skerry-agent' }
  const secrets = fleet.admin.resource(resources.secrets)
  await secrets.create({ apiVersion: 'v1', kind: 'Secret', metadata }, soon())
  const identitySecret = 'kube-system/skerry-agent'
  const kept = async () => Object.keys((await secrets.get(metadata, soon())).data ?? {}).toSorted()
  const ahead = { ms: 0 }
  const given = { identitySecret, ahead }
  const serialIn = async (directory: string) =>
    readCertificate(await certificateIn(directory, 'bank-east')).serialNumber
  let first: string
  {
    await using started = await startBank(fleet, given)
    await apply(started.bank, 'bank-east')
    await started.clustersOf('bank-east').get({ name: 'bank-east' }, soon())
    first = await serialIn(started.directory)
    await until(async () => (await kept()).length === 2, soon())
  }
  // A pod on another machine has nothing but the Secret.
  const directory = join(fleet.directory, 'agent-elsewhere')
  {
    await using again = await startBank(fleet, { ...given, directory })
    await again.clustersOf('bank-east').get({ name: 'bank-east' }, soon())
    assert.equal(await serialIn(directory), first)
  }
  ahead.ms += 3 * 365 * 86_400_000
  await using late = await startBank(fleet, { ...given, directory })
  const clusters = late.clustersOf('bank-east')
  await clusters.get({ name: 'bank-east' }, soon())
  assert.notEqual(await serialIn(directory), first)
  await clusters.delete({ name: 'bank-east' }, soon())
  await until(async () => {
    return (await reasonOf(clusters.get({ name: 'bank-east' }, soon()))) === 'NotFound'
  }, soon())
  await late.identityOf('bank-east').release?.(soon())
  assert.deepEqual(await readdir(join(directory, 'clusters')), [])
  assert.deepEqual(await kept(), [])
})

test('a damaged identity of a virtual cluster is requested again; an obstacle in its place is refused in one line', async () => {
  await using fleet = await startTestHub()
  await using started = await startBank(fleet)
  const { bank, clustersOf, parent, directory: whole } = started
  await apply(bank, 'bank-east')
  await clustersOf('bank-east').get({ name: 'bank-east' }, soon())
  const start = async (directory: string): Promise<void> => {
    const stop = linkedSignal(soon())
    const context = { ...fleet.context, signal: stop.signal }
    const parts = { local: fleet.admin, parent }
    const children = createVirtualIdentities({ directory, clusterName: 'bank' }, parts, context)
    const running = children.run(stop.signal)
    try {
      const clusters = children.identityOf('bank-east').hub.resource(clusterResource)
      await clusters.get({ name: 'bank-east' }, soon())
    } finally {
      stop.abort(new Error('it was asked'))
      await assert.rejects(running, /it was asked/)
    }
  }
  const own = join('clusters', 'bank-east')
  const failures = await failuresOfDamage({
    whole,
    files: ['agent.crt', 'agent.key', 'agent-next.key'].map((name) => join(own, name)),
    mayChange: (name) => name.startsWith(own),
    expected: (file, damage) =>
      // The next key is read only if the certificate is useless.
      damage === 'a directory' && !file.endsWith('agent-next.key') ? 'refused' : 'made again',
    start,
  })
  assert.deepEqual(failures, [])
  for (const path of ['clusters', own].map((name) => join(whole, name))) {
    await rm(path, { recursive: true })
    await writeFile(path, 'no directory')
    const error: unknown = await start(whole).catch((thrown: unknown) => thrown)
    assert.equal(refusalProblem(error, { isRefused: true, path }), undefined)
    await rm(path)
    await start(whole)
  }
})
