import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace } from '@skerry/api'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient } from '@skerry/client'
import { createNamespaceController, runControllers } from '@skerry/controllers'
import { builtinKinds } from '@skerry/kinds'
import {
  edgeClusterController,
  edgeClusterKind,
  edgeClusterResource,
  type EdgeCluster,
  type HubSide,
} from '@skerry/provisioning'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { startTestHub } from '../../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const namespace = 'shops'
const edgeKey = { namespace, name: 'branch-7' }
const secretKey = { namespace, name: 'ssh' }
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

/** Makes a namespace with a login and an EdgeCluster of one machine that uses it. */
async function makeNamespace(
  hub: ClusterClient,
  { spec = {}, finalizers = [] }: { spec?: Partial<EdgeCluster['spec']>; finalizers?: string[] },
): Promise<void> {
  const made: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await hub.resource(resources.namespaces).create(made, soon())
  const data = { password: btoa('a password') }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: secretKey, data }
  await hub.resource(resources.secrets).create(secret, soon())
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { ...edgeKey, finalizers },
    spec: {
      machines: [
        {
          addresses: ['10.0.0.11'],
          role: 'Master',
          credentials: { name: 'ssh' },
          acceptNewHostKeys: true,
        },
      ],
      ...spec,
    },
  }
  await hub.resource(edgeClusterResource).create(edge, soon())
}

const untilGone = (hub: ClusterClient): Promise<unknown> => {
  const wanted = { resource: resources.namespaces, key: { name: namespace } }
  return untilObject(hub, wanted, (found) => found === undefined, soon())
}

const remaining = ({ status }: Namespace): string | undefined =>
  status?.conditions?.find(
    ({ type, status: is }) => type === 'NamespaceContentRemaining' && is === 'True',
  )?.message

test('a hub keeps everything of a namespace that is being deleted until its edge clusters are gone', async () => {
  await using fleet = await startTestHub()
  const { admin: hub } = fleet
  const finalizers = ['example.com/held']
  await makeNamespace(hub, { spec: { paused: true }, finalizers })
  const namespaces = { resource: resources.namespaces, key: { name: namespace } }
  await hub.resource(resources.namespaces).delete({ name: namespace }, soon())
  const held = await untilObject(
    hub,
    namespaces,
    (found) => found !== undefined && remaining(found) !== undefined,
    soon(),
  )
  const text = 'Some resources are remaining: edgeclusters.hub.skerry.io has 1 resource instances'
  assert.equal(held && remaining(held), text)
  const secrets = hub.resource(resources.secrets)
  assert.equal((await secrets.get(secretKey, soon())).metadata.deletionTimestamp, undefined)
  const patch = { metadata: { finalizers: null } }
  await hub.resource(edgeClusterResource).patch({ ...edgeKey, type: 'merge', patch }, soon())
  await untilGone(hub)
  assert.equal(await ifThere(secrets.get(secretKey, soon())), undefined)
})

test('machines of a namespace that is deleted are cleaned with the logins in it', async () => {
  const kinds = await builtinKinds()
  await using server = await startTestApiServer({ kinds: [...kinds, edgeClusterKind(kinds)] })
  const hub = createCluster(server.transport, { ...deps, userAgent: 'test' })
  const passwords: (string | undefined)[] = []
  const done: string[] = []
  const step = (name: string) => ({
    name,
    does: 'work',
    needs: [],
    place: 'machines' as const,
    changesMachine: true,
    act: async () => {
      done.push(name)
      return 'done'
    },
  })
  const edges = edgeClusterController({
    steps: [step('Install')],
    departure: [],
    removal: [step('Clean')],
    // The steps of this test do not ask the hub.
    hub: {} as HubSide,
    async openShell({ login }) {
      passwords.push(login.password)
      return {
        hostKey: `SHA256:${'a'.repeat(43)}`,
        run: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
        write: async () => undefined,
        upload: async () => undefined,
        uploadByDigest: async () => undefined,
        [Symbol.asyncDispose]: async () => undefined,
      }
    },
  })
  using stop = linkedSignal(soon())
  const controllers = [createNamespaceController([edgeClusterResource]), edges]
  const running = runControllers(controllers, { ...deps, cluster: hub }, stop.signal)
  running.catch(() => undefined)
  await makeNamespace(hub, {})
  const wanted = { resource: edgeClusterResource, key: edgeKey }
  await untilObject(hub, wanted, (found) => found?.status?.phase === 'Ready', soon())
  await hub.resource(resources.namespaces).delete({ name: namespace }, soon())
  await untilGone(hub)
  assert.deepEqual(done, ['Install', 'Clean'])
  assert.deepEqual(passwords, ['a password', 'a password'])
  stop.abort(new Error('the test is over'))
  await running.catch(() => undefined)
})
