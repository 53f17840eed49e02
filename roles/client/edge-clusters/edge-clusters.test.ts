import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { resources } from '@skerry/client'
import { edgeClusterResource, steps, type EdgeCluster } from '@skerry/provisioning'
import { skerry, startCommandedHub, type Ended } from '../../../testing/scenes/hub-commands.ts'
import type { TestHub } from '../../../testing/scenes/test-fleet.ts'
import { until } from '../../../testing/until.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = 'default'
/** An address of documents (RFC 5737): no machine has it. */
const machine = '192.0.2.11:1'
const password = 'pass-of-the-machine'

async function passwordFile({ directory }: TestHub): Promise<string> {
  const path = join(directory, 'password')
  await writeFile(path, `${password}\n`, { mode: 0o600 })
  return path
}

const edges = ({ admin }: TestHub) => admin.resource(edgeClusterResource)
const secretNames = async ({ admin }: TestHub): Promise<(string | undefined)[]> => {
  const { items } = await admin.resource(resources.secrets).list({ namespace }, soon())
  return items.map(({ metadata }) => metadata.name).filter((name) => name?.includes('ssh'))
}

/** Makes an EdgeCluster past the command. It has no Secret, so its first login fails for good. */
async function makeFailing(fleet: TestHub, name: string): Promise<EdgeCluster> {
  return makeUntil(fleet, name, { phase: 'Failed', skipSteps: [] })
}

async function makeUntil(
  fleet: TestHub,
  name: string,
  { phase, skipSteps }: { phase: string; skipSteps: string[] },
): Promise<EdgeCluster> {
  const edge = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name, namespace },
    spec: {
      machines: [
        {
          addresses: ['192.0.2.11'],
          port: 1,
          role: 'Master' as const,
          credentials: { name: `${name}-ssh` },
        },
      ],
      retry: { attempts: 1 },
      skipSteps,
    },
  }
  await edges(fleet).create(edge, soon())
  return until(async () => {
    const found = await edges(fleet).get({ namespace, name }, soon())
    return found.status?.phase === phase && found
  })
}

test('an edge cluster is checked by a dry run, made with its Secret, and gets nodes from a file', async () => {
  await using fleet = await startCommandedHub()
  const file = await passwordFile(fleet)
  const create = ['create', 'edge-cluster', 'branch-7', '--password-file', file]
  const named = [...create, '--machine', machine, '--label', 'tier=front']
  const range = ['--pod-cidr', '10.8.0.0/20']
  const dry = await skerry(fleet, ...named, ...range, '--dry-run')
  assert.deepEqual([dry.code, dry.err], [0, ''])
  assert.match(dry.out, /at most 16 nodes \(10\.8\.0\.0\/20/)
  assert.match(dry.out, /^kind: EdgeCluster$/m)
  const json = await skerry(fleet, ...named, '--dry-run', '-o', 'json')
  assert.equal(JSON.parse(json.out).limits.nodesMax, 256)
  assert.deepEqual(
    [(await edges(fleet).list({}, soon())).items, await secretNames(fleet)],
    [[], []],
  )

  const wrong = await skerry(fleet, ...named, '--pod-cidr', '10.43.0.0/16')
  assert.deepEqual([wrong.code, wrong.out], [2, ''])
  assert.match(
    wrong.err,
    /^skerry: Cannot create edge cluster branch-7: .*spec\.network\.serviceCIDR/,
  )
  assert.deepEqual(await secretNames(fleet), [])

  const made = await skerry(fleet, ...named)
  assert.deepEqual([made.code, made.err], [0, ''])
  assert.match(made.out, /skerry edge-cluster watch branch-7"/)
  const key = { namespace, name: 'branch-7' }
  const { spec } = await edges(fleet).get(key, soon())
  assert.deepEqual(spec.machines, [
    {
      addresses: ['192.0.2.11'],
      port: 1,
      credentials: { name: 'branch-7-ssh' },
      role: 'Master',
      labels: { tier: 'front' },
    },
  ])
  const secret = await fleet.admin
    .resource(resources.secrets)
    .get({ namespace, name: 'branch-7-ssh' }, soon())
  assert.equal(Buffer.from(secret.data?.['password'] ?? '', 'base64').toString(), `${password}\n`)

  const csv = join(fleet.directory, 'machines.csv')
  const add = ['add', 'nodes', 'branch-7', '--from', csv, '--credentials', 'branch-7-ssh']
  await writeFile(csv, '192.0.2.12,root\n192.0.2.13,root,none\n')
  const bad = await skerry(fleet, ...add)
  assert.deepEqual([bad.code, bad.out], [2, ''])
  assert.match(bad.err, /machines\.csv, line 2: port: "none" is not a number/)
  assert.equal((await edges(fleet).get(key, soon())).spec.machines.length, 1)
  await writeFile(csv, '192.0.2.12,root\n192.0.2.13,eva,2222,,shop=7\n')
  const added = await skerry(fleet, ...add)
  assert.deepEqual([added.code, added.err], [0, ''])
  const { machines } = (await edges(fleet).get(key, soon())).spec
  assert.deepEqual(
    machines.map(({ addresses, role, labels }) => [addresses, role, labels]),
    [
      [['192.0.2.11'], 'Master', { tier: 'front' }],
      [['192.0.2.12'], 'Node', undefined],
      [['192.0.2.13'], 'Node', { shop: '7' }],
    ],
  )
})

test('a login that is missing or named twice is refused before anything is sent', async () => {
  await using fleet = await startCommandedHub()
  const file = await passwordFile(fleet)
  const create = ['create', 'edge-cluster', 'branch-7', '--machine', machine]
  for (const [words, why] of [
    [[], /give --credentials <secret>, --password-file or --private-key-file/],
    [['--credentials', 'x', '--password-file', file], /give one of the two/],
    [['--sudo-password-file', file], /needs --password-file or --private-key-file/],
    [['--password-file', `${file}-none`], /--password-file .*cannot be read/],
    [['--credentials', 'no-such'], /there is no Secret no-such in namespace default/],
  ] as const) {
    const { code, out, err } = await skerry(fleet, ...create, ...words)
    assert.deepEqual([code, out], [2, ''], err)
    assert.match(err, why)
  }
  assert.deepEqual((await edges(fleet).list({}, soon())).items, [])
})

test('people see a failed cluster, read its log, retry, skip and pause by names that exist', async () => {
  await using fleet = await startCommandedHub()
  await makeFailing(fleet, 'branch-7')
  const edge = (...words: string[]): Promise<Ended> => skerry(fleet, 'edge-cluster', ...words)
  const [list, get, watch, logs, wrong, done] = await Promise.all([
    edge('list'),
    edge('get', 'branch-7'),
    edge('watch', 'branch-7'),
    edge('logs', 'branch-7', 'Connect'),
    edge('skip', 'branch-7', 'Preflite'),
    edge('retry', 'branch-7', 'ClaimName'),
  ])
  assert.match(
    list.out,
    /^NAME +PHASE +STEPS +MACHINES +AGE +MESSAGE\nbranch-7 +Failed +1\/\d+ +1 /,
  )
  assert.match(get.out, /^Connect +192\.0\.2\.11 +Failed +1 /m)
  assert.equal(watch.code, 1)
  assert.match(watch.out, /^Connect@192\.0\.2\.11: Failed/m)
  assert.match(watch.err, /Connect@192\.0\.2\.11 failed: .*skerry edge-cluster retry branch-7/)
  assert.match(logs.out, /^--- attempt 1, .*: Failed\n/)
  assert.deepEqual([wrong.code, wrong.out], [2, ''])
  assert.match(wrong.err, /has no such step; it has ClaimName, Connect, Preflight/)
  assert.deepEqual([done.code, done.out], [2, ''])
  assert.match(done.err, /Cannot retry step ClaimName: it is done/)
  const claimed = await edge('skip', 'branch-7', 'ClaimName')
  assert.deepEqual([claimed.code, claimed.out], [2, ''])
  assert.match(claimed.err, /Cannot skip step ClaimName: it is done/)

  const paused = await edge('pause', 'branch-7')
  assert.equal(paused.code, 0, paused.err)
  const key = { namespace, name: 'branch-7' }
  await until(async () => (await edges(fleet).get(key, soon())).status?.phase === 'Paused')
  assert.equal((await edge('skip', 'branch-7', 'Connect@192.0.2.11')).code, 0)
  const state = async (): Promise<string | undefined> =>
    (await edges(fleet).get(key, soon())).status?.steps?.find(({ name }) => name === 'Connect')
      ?.state
  await until(async () => (await state()) === 'Skipped')
  const annotations = { 'hub.skerry.io/pause': 'true' }
  const patch = { metadata: { annotations } }
  await edges(fleet).patch({ ...key, type: 'merge', patch }, soon())
  assert.equal(
    (await edge('resume', 'branch-7', '-o', 'json')).out,
    '{"name":"branch-7","namespace":"default","paused":false}\n',
  )
  const { metadata, spec } = await edges(fleet).get(key, soon())
  assert.deepEqual(
    [spec.paused, metadata.annotations?.['hub.skerry.io/pause']],
    [undefined, undefined],
  )
})

test('a step of the hub that nobody may skip is refused, and the hub is not said to skip it', async () => {
  await using fleet = await startCommandedHub()
  await makeFailing(fleet, 'branch-7')
  // It claims a name that the first has.
  const metadata = { name: 'branch-8', namespace }
  const { spec } = await edges(fleet).get({ namespace, name: 'branch-7' }, soon())
  const kind = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster' }
  await edges(fleet).create(
    { ...kind, metadata, spec: { ...spec, clusterName: 'branch-7' } },
    soon(),
  )
  await until(async () => {
    const { status } = await edges(fleet).get(metadata, soon())
    return status?.steps?.some(({ name, state }) => name === 'ClaimName' && state === 'Failed')
  })
  const { code, out, err } = await skerry(fleet, 'edge-cluster', 'skip', 'branch-8', 'ClaimName')
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /Cannot skip step ClaimName: the hub itself always does it/)
})

test('a watch ends with the exit code 0 at Ready, and names a cluster that is not there', async () => {
  await using fleet = await startCommandedHub()
  const skipSteps = steps.map(({ name }) => name)
  await makeUntil(fleet, 'branch-7', { phase: 'Ready', skipSteps })
  const [ready, other] = await Promise.all([
    skerry(fleet, 'edge-cluster', 'watch', 'branch-7'),
    skerry(fleet, 'edge-cluster', 'watch', 'branch-8'),
  ])
  assert.deepEqual([ready.code, ready.err], [0, ''])
  assert.match(ready.out, /^branch-7: Ready$/m)
  assert.deepEqual([other.code, other.out], [2, ''])
  assert.match(other.err, /^skerry: Cannot find edge cluster "branch-8" in namespace "default"/)
})

test('a host key is accepted for a machine of the cluster only', async () => {
  await using fleet = await startCommandedHub()
  await makeFailing(fleet, 'branch-7')
  const fingerprint = `SHA256:${'a'.repeat(43)}`
  const accept = (key: string): Promise<Ended> =>
    skerry(fleet, 'edge-cluster', 'accept-host-key', 'branch-7', key)
  const other = await accept(`192.0.2.1=${fingerprint}`)
  assert.deepEqual([other.code, other.out], [2, ''])
  assert.match(other.err, /the machines are 192\.0\.2\.11/)
  assert.match((await accept('192.0.2.11')).err, /SHA256:<43 characters>/)
  const right = await accept(`192.0.2.11=${fingerprint}`)
  assert.deepEqual([right.code, right.err], [0, ''])
  const kept = async (): Promise<string | undefined> => {
    const { status } = await edges(fleet).get({ namespace, name: 'branch-7' }, soon())
    return status?.machines?.[0]?.hostKey
  }
  assert.equal(await until(kept), fingerprint)
})

test('a deleted cluster is followed until it is gone, and its Secret is named', async () => {
  await using fleet = await startCommandedHub()
  await makeFailing(fleet, 'branch-7')
  const words = ['edge-cluster', 'delete', 'branch-7', '--keep-machines', '--wait']
  const { code, out, err } = await skerry(fleet, ...words)
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /Secret branch-7-ssh stays/)
  await assert.rejects(edges(fleet).get({ namespace, name: 'branch-7' }, soon()), (error) =>
    isStatusError(error, 'NotFound'),
  )
  const again = await skerry(fleet, ...words)
  assert.deepEqual([again.code, again.out], [2, ''])
  assert.match(again.err, /Cannot find edge cluster "branch-7" in namespace "default"/)
})
