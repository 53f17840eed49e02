import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { edgeClusterResource, type EdgeCluster, type MachineBlock } from '@skerry/provisioning'
import { startTestHub, type TestHub } from '../../../testing/scenes/test-fleet.ts'
import { until } from '../../../testing/until.ts'
import { changeEdge } from './edge-cluster-access.ts'
import { writeAdminKubeconfig } from '../../control-plane/admin-kubeconfig.ts'

const program = join(import.meta.dirname, '../../../cmd/skerry.ts')
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const key = { namespace: 'default', name: 'branch-7' }

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `skerry edge-cluster` as the administrator of this hub. */
function skerry({ directory }: TestHub, ...words: string[]): Promise<Ended> {
  const asked = [program, 'edge-cluster', ...words, '--data-dir', directory]
  return new Promise((resolve) => {
    const ran = execFile(process.execPath, asked, { signal: soon() }, (_error, out, err) =>
      resolve({ code: ran.exitCode ?? -1, out, err }),
    )
  })
}

async function startScene(): Promise<TestHub> {
  await using stack = new AsyncDisposableStack()
  const fleet = stack.use(await startTestHub())
  const file = { path: join(fleet.directory, 'admin.kubeconfig'), name: 'hub', server: fleet.url }
  await writeAdminKubeconfig(fleet.hub.plane.pki, file)
  stack.move()
  return fleet
}

const credentials = { name: 'ssh' }
const master: MachineBlock = { addresses: ['192.0.2.11'], role: 'Master', credentials }
const nodes: MachineBlock = {
  addresses: ['192.0.2.[12-14]'],
  user: 'admin',
  port: 2222,
  credentials,
  hostKeys: [`SHA256:${'a'.repeat(43)}`],
  labels: { tier: 'front' },
  taints: [{ key: 'video', effect: 'NoSchedule' }],
}

/** Makes an EdgeCluster that is paused: nobody answers at these addresses. */
async function make({ admin }: TestHub): Promise<void> {
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: key,
    spec: { machines: [master, nodes], paused: true },
  }
  await admin.resource(edgeClusterResource).create(edge, soon())
}

const read = ({ admin }: TestHub): Promise<EdgeCluster> =>
  admin.resource(edgeClusterResource).get(key, soon())

test('a node is removed from its range, called dead, and replaced with all that its block says', async () => {
  await using fleet = await startScene()
  await make(fleet)
  const removed = await skerry(fleet, 'remove-node', 'branch-7', '192.0.2.13')
  assert.deepEqual([removed.code, removed.err], [0, ''])
  assert.match(
    removed.out,
    /takes 192\.0\.2\.13 out of the cluster; see "skerry edge-cluster watch/,
  )
  const without = { ...nodes, addresses: ['192.0.2.12', '192.0.2.14'] }
  assert.deepEqual((await read(fleet)).spec.machines, [master, without])

  const words = ['replace-node', 'branch-7', '192.0.2.12', '192.0.2.15', '--dead', '-o', 'json']
  const replaced = await skerry(
    fleet,
    ...words,
    '--host-key',
    `192.0.2.15=SHA256:${'b'.repeat(43)}`,
  )
  assert.deepEqual([replaced.code, replaced.err], [0, ''])
  assert.equal(JSON.parse(replaced.out).removed, '192.0.2.12')
  const { spec } = await read(fleet)
  assert.deepEqual(spec.machines, [
    master,
    { ...nodes, addresses: ['192.0.2.14'] },
    { ...nodes, addresses: ['192.0.2.15'], hostKeys: [`SHA256:${'b'.repeat(43)}`] },
  ])

  const last = await skerry(fleet, 'remove-node', 'branch-7', '192.0.2.11')
  assert.equal(last.code, 2)
  assert.match(last.err, /^skerry: Cannot remove 192\.0\.2\.11 from .*spec\.machines.*last master/)
  const unknown = await skerry(fleet, 'remove-node', 'branch-7', '192.0.2.99')
  assert.deepEqual([unknown.code, unknown.out], [2, ''])
  assert.match(unknown.err, /branch-7 has 192\.0\.2\.11, 192\.0\.2\.14, 192\.0\.2\.15/)
})

test('a machine that leaves is shown with its login, and is called dead later', async () => {
  await using fleet = await startScene()
  await make(fleet)
  const login = { user: 'admin', port: 2222, credentials: 'ssh' }
  const status = {
    machines: [{ address: '192.0.2.20', role: 'Node' as const, isChanged: true, login }],
  }
  const edges = fleet.admin.resource(edgeClusterResource)
  await until(async () => (await read(fleet)).status?.phase === 'Paused')
  await edges.patchStatus({ ...key, type: 'merge', patch: { status } }, soon())
  const isPlanned = ({ status: found }: EdgeCluster): boolean =>
    found?.steps?.some((step) => step.name === 'CleanMachine') === true
  await until(async () => isPlanned(await read(fleet)))
  const shown = await skerry(fleet, 'get', 'branch-7')
  assert.match(shown.out, /192\.0\.2\.20 +admin +2222 +ssh/)
  assert.match(shown.out, /192\.0\.2\.20 +Node +- +Pending +CleanMachine/)
  const again = await skerry(fleet, 'remove-node', 'branch-7', '192.0.2.20')
  assert.equal(again.code, 2)
  assert.match(again.err, /it is leaving already; .* add --dead/)
  const dead = await skerry(fleet, 'remove-node', 'branch-7', '192.0.2.20', '--dead')
  assert.deepEqual([dead.code, dead.err], [0, ''])
})

test('a machine is removed although the hub writes a status meanwhile', async () => {
  await using fleet = await startScene()
  await make(fleet)
  const client = fleet.admin.resource(edgeClusterResource)
  let races = 0
  const racing = {
    key,
    client: {
      patch: client.patch.bind(client),
      async get(...asked: Parameters<typeof client.get>): Promise<EdgeCluster> {
        const found = await client.get(...asked)
        if (++races > 2) return found
        const patch = { metadata: { annotations: { race: String(races) } } }
        await client.patch({ ...key, type: 'merge', patch }, soon())
        return found
      },
    },
  }
  await changeEdge(racing, ({ spec }) => ({ spec: { machines: spec.machines.slice(0, 1) } }))
  assert.equal(races, 3)
  assert.deepEqual((await read(fleet)).spec.machines, [master])
})
