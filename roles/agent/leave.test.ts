import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { bootstrapNamespace, bootstrapSecretName } from '@skerry/api'
import { systemClock, createMetrics, linkedSignal } from '@skerry/base'
import { inspectCertificateAndKey } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  readBody,
  resources,
  type ClientCredentials,
} from '@skerry/client'
import { clusterResource, virtualClusterResource } from '@skerry/fleet-kinds'
import { leavePath } from '@skerry/membership'
import { spkiHash } from '@skerry/pki'
import { untilObject } from '@skerry/testing'
import {
  freshToken,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { startTestKarmada } from '../../testing/scenes/test-karmada.ts'
import { addNode, startVirtualScene, virtualCluster } from '../../testing/scenes/virtual-scene.ts'
import { runAgentPod } from './agent-pod.ts'
import { openKarmadaIdentity } from './karmada-identity.ts'
import { leave } from './leave.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const isReady = ({ Ready }: Readonly<Record<string, string>>): boolean => Ready === 'True'
type Edge = Awaited<ReturnType<typeof startTestEdge>>

/** Returns the access of the edge's administrator, who is present when a cluster leaves. */
function adminOf({ url, credentials: { ca, cert, key } }: Pick<Edge, 'url' | 'credentials'>) {
  const credentials = fixedCredentials({ certificate: cert, key })
  return { server: url, certificateAuthority: ca, credentials }
}

async function identityIn(directory: string): Promise<ClientCredentials> {
  const paths = ['agent.crt', 'agent.key'].map((name) => join(directory, name))
  const [certificatePath = '', keyPath = ''] = paths
  const { pair: found } = await inspectCertificateAndKey({ certificatePath, keyPath })
  assert.ok(found)
  return { certificate: found.certificatePem, key: found.privateKeyPem }
}

/** Returns the status of a request of this agent. */
async function ask(
  fleet: TestHub,
  identity: ClientCredentials,
  [method, path]: readonly ['GET' | 'POST' | 'DELETE', string],
): Promise<number> {
  const credentials = fixedCredentials(identity)
  const to = { server: fleet.url, certificateAuthority: fleet.caPem, credentials }
  using transport = createHttpsTransport(to, { clock: systemClock })
  const { status, body } = await transport.send({ method, path, headers: {} }, soon())
  await readBody(body)
  return status
}

async function untilGone({ admin }: TestHub, name: string): Promise<void> {
  const asked = { resource: clusterResource, key: { name } }
  await untilObject(admin, asked, (found) => found === undefined, soon())
}

const shop = '/apis/cluster.karmada.io/v1alpha1/clusters/shop'

test('a cluster leaves its hub with one command, and its agent cannot come back without a new token', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const directory = join(fleet.directory, 'agent-shop')
  const token = await freshToken(fleet, 'shop')
  {
    await using _agent = await startTestAgent(fleet, { name: 'shop', api: edge.api, token })
    await untilCluster(fleet, 'shop', isReady)
  }
  const identity = await identityIn(directory)
  assert.equal(await ask(fleet, identity, ['DELETE', shop]), 403)
  assert.equal(await ask(fleet, identity, ['GET', shop]), 200)
  const person = await fleet.credentialsOf({ commonName: 'olga', organizations: ['staff'] })
  assert.equal(await ask(fleet, person, ['POST', leavePath]), 403)
  assert.equal(await ask(fleet, identity, ['POST', `${leavePath}/store`]), 403)
  const program = join(import.meta.dirname, '../../cmd/skerry.ts')
  const flags = ['--hub', fleet.url, '--data-dir', directory, '--kubeconfig', edge.kubeconfigPath]
  const command = [program, 'cluster', 'leave', 'shop', ...flags]
  const { stdout } = await promisify(execFile)(process.execPath, command, { signal: soon() })
  assert.match(stdout, /^shop has left$/m)
  await untilGone(fleet, 'shop')
  assert.deepEqual(await readdir(directory), [])
  assert.equal(await ask(fleet, identity, ['GET', shop]), 401)
  const secrets = await fleet.admin
    .resource(resources.secrets)
    .list({ namespace: bootstrapNamespace }, soon())
  const names = secrets.items.map(({ metadata }) => metadata.name)
  assert.ok(!names.includes(bootstrapSecretName(token.slice(0, 6))))
})

test('a cluster whose agent runs waits for it to end; an identity in a Secret is taken out of it', async () => {
  await using edge = await startTestEdge({ appliesWorks: true })
  await using fleet = await startTestHub()
  const secret = { namespace: 'kube-system', name: 'identity' }
  const local = createCluster(edge.transport, { ...fleet.context, userAgent: 'test' })
  await local
    .resource(resources.secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata: secret }, soon())
  const stop = linkedSignal(soon())
  const identitySecret = `${secret.namespace}/${secret.name}`
  const pod = runAgentPod(
    {
      directory: join(fleet.directory, 'pod'),
      hub: fleet.url,
      clusterName: 'shop',
      enrolment: {
        tokenFile: undefined,
        tokenText: await freshToken(fleet, 'shop'),
        caHash: spkiHash(fleet.caPem),
      },
      api: adminOf(edge),
      appliesWorks: true,
      identitySecret,
    },
    { ...fleet.context, metrics: createMetrics(), signal: stop.signal },
  ).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  const leases = {
    resource: resources.leases,
    key: { namespace: 'kube-system', name: 'karmada-agent-shop' },
  }
  await untilObject(local, leases, (found) => Boolean(found?.spec?.holderIdentity), soon())
  const kept = { resource: resources.secrets, key: secret }
  await untilObject(local, kept, (found) => found?.data?.['agent.crt'] !== undefined, soon())
  const waited: string[] = []
  const asked = {
    from: { hub: fleet.url },
    directory: join(fleet.directory, 'leaving'),
    identitySecret,
    clusterName: 'shop',
    api: adminOf(edge),
    keepsObjects: false,
    onWaiting(what: string) {
      waited.push(what)
      stop.abort(new Error('somebody stops the agent'))
    },
  }
  const left = await leave(asked, { ...fleet.context, metrics: createMetrics() })
  await pod
  assert.match(waited[0] ?? '', /^its agent to end: \S+ runs, stop it$/)
  assert.deepEqual(left, { rightsAreGone: true })
  await untilGone(fleet, 'shop')
  const { data = {} } = await local.resource(resources.secrets).get(secret, soon())
  assert.deepEqual(Object.keys(data), [])
  const again = leave(
    { ...asked, onWaiting: () => {} },
    { ...fleet.context, metrics: createMetrics() },
  )
  await assert.rejects(
    again,
    /no identity in kube-system\/identity.*skerry cluster revoke shop --delete/,
  )
})

test('a cluster with virtual clusters does not leave before them', async () => {
  const signal = soon()
  await using scene = await startVirtualScene({}, signal)
  const { fleet, edge } = scene
  await addNode(edge, 'n1', { branch: 'east' }, signal)
  const spec = { nodeSelector: { matchLabels: { branch: 'east' } } }
  await edge.resource(virtualClusterResource).create(virtualCluster('east', spec), signal)
  await untilCluster(fleet, 'bank-east', isReady)
  await scene.stopAgent()
  const asked = {
    from: { hub: fleet.url },
    directory: join(fleet.directory, 'agent-bank'),
    clusterName: 'bank',
    api: scene.api,
    keepsObjects: false,
  }
  await assert.rejects(
    leave(asked, { ...fleet.context, metrics: createMetrics() }),
    /the cluster has virtual clusters: east; while its agent runs, delete its VirtualClusterSets/,
  )
})

test('a cluster leaves Karmada with all of its rights, as far as the agent may take them', async () => {
  await using karmada = await startTestKarmada()
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const context = { ...fleet.context, metrics: createMetrics() }
  const bindings = karmada.admin.resource(resources.clusterRoleBindings)
  const roles = karmada.admin.resource(resources.clusterRoles)
  const key = { name: 'system:karmada:shop:agent' }
  for (const mayDelete of [true, false]) {
    const directory = join(fleet.directory, `karmada-${mayDelete}`)
    const asked = {
      directory,
      server: karmada.url,
      clusterName: 'shop',
      tokenFile: undefined,
      tokenText: await karmada.createToken(mayDelete ? 'abcdef' : 'fedcba'),
      caHash: undefined,
      authorityPem: karmada.caPem,
      readClusterId: async () => 'one',
    }
    const { transport } = await openKarmadaIdentity(asked, context)
    await writeFile(join(directory, 'ca.crt'), karmada.caPem)
    using hubTransport = createHttpsTransport(transport, context)
    const hub = createCluster(hubTransport, { ...context, userAgent: 'test' })
    const spec = { syncMode: 'Pull' as const, id: 'one' }
    const apiVersion = 'cluster.karmada.io/v1alpha1'
    const cluster = { apiVersion, kind: 'Cluster', metadata: { name: 'shop' }, spec }
    await hub.resource(clusterResource).create(cluster, soon())
    if (!mayDelete) {
      const { rules } = await roles.get(key, soon())
      const kept = (rules ?? []).filter(
        ({ resources: names }) => !names?.includes('clusterrolebindings'),
      )
      await roles.patch({ ...key, type: 'merge', patch: { rules: kept } }, soon())
    }
    const leaving = { from: { karmada: karmada.url }, directory, clusterName: 'shop' }
    const left = await leave({ ...leaving, api: adminOf(edge), keepsObjects: false }, context)
    assert.deepEqual(left, { rightsAreGone: mayDelete })
    assert.deepEqual(await readdir(directory), [])
    const clusters = await karmada.admin.resource(clusterResource).list({}, soon())
    assert.deepEqual(clusters.items, [])
    const { items } = await bindings.list({}, soon())
    assert.equal(
      items.some(({ metadata }) => metadata.name === key.name),
      !mayDelete,
    )
  }
})
