/** Tests images of a registry that requires credentials: refused without, pulled with a pull secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'
import { startRegistry } from './registry-on-host.ts'

const username = 'puller'
const password = 'pass:word'

test('a private registry', { skip: await whyNot(), timeout: 300_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  const { host } = await cluster.addNode(1)
  for (const challenge of ['basic', 'bearer'] as const) {
    const registry = await startRegistry(host, { challenge, username, password })
    await t.test(`that asks for ${challenge} credentials`, (group) =>
      pulls(group, { cluster, namespace: challenge, registry }),
    )
  }
  await t.test('policy Never does not pull', () => neverPulls(cluster))
})

interface Scene {
  cluster: ClusterOnHosts
  namespace: string
  registry: string
}

async function pulls(group: test.TestContext, scene: Scene): Promise<void> {
  await setUp(scene)
  await group.test('refuses a pod without a pull secret', () =>
    isRefused(scene, { name: 'stranger' }),
  )
  await group.test('refuses a pod with a wrong password', () =>
    isRefused(scene, { name: 'wrong', pullSecret: 'wrong' }),
  )
  await group.test('serves a pod with imagePullSecrets', () =>
    runs(scene, { name: 'own-secret', pullSecret: 'right' }),
  )
  await group.test('serves a pod whose service account has the secret', () =>
    runs(scene, { name: 'account-secret', serviceAccount: 'puller' }),
  )
  await group.test('still refuses the pod without one', () => isRefused(scene, { name: 'later' }))
}

/** The secrets are what `kubectl create secret docker-registry` makes. */
async function setUp({ cluster, namespace, registry }: Scene): Promise<void> {
  await cluster.kubectl('create', 'namespace', namespace)
  const create = ['create', 'secret', 'docker-registry', '-n', namespace]
  const login = [`--docker-server=${registry}`, `--docker-username=${username}`]
  await cluster.kubectl(...create, 'right', ...login, `--docker-password=${password}`)
  await cluster.kubectl(...create, 'wrong', ...login, '--docker-password=guess')
  await cluster.apply(`
apiVersion: v1
kind: ServiceAccount
metadata: { name: puller, namespace: ${namespace} }
imagePullSecrets: [{ name: right }]
`)
  await cluster.waitFor('the default service account', async () => {
    await cluster.kubectl('get', 'serviceaccount', 'default', '-n', namespace)
    return true
  })
}

interface PodPlan {
  name: string
  pullSecret?: string
  serviceAccount?: string
}

/** Asks the registry each time, so that no pod profits from what another one pulled. */
async function createPod({ cluster, namespace, registry }: Scene, plan: PodPlan): Promise<void> {
  const secrets = plan.pullSecret === undefined ? '' : `{ name: ${plan.pullSecret} }`
  await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: ${plan.name}, namespace: ${namespace} }
spec:
  serviceAccountName: ${plan.serviceAccount ?? 'default'}
  imagePullSecrets: [${secrets}]
  terminationGracePeriodSeconds: 0
  containers:
    - { name: main, image: '${registry}/edge/app:v1', imagePullPolicy: Always }
`)
}

async function isRefused(scene: Scene, plan: PodPlan): Promise<void> {
  const { cluster, namespace } = scene
  await createPod(scene, plan)
  const message = await untilWaiting(scene, plan.name, /^(ErrImagePull|ImagePullBackOff)$/)
  assert.match(message, /401 Unauthorized/)
  const selector = `--field-selector=reason=Failed,involvedObject.name=${plan.name}`
  await cluster.waitFor('the events of the refusal', async () => {
    const events = await cluster.kubectl('get', 'events', '-n', namespace, selector)
    assert.match(
      events,
      /Failed to pull image "127\.0\.0\.1:\d+\/edge\/app:v1": .*401 Unauthorized/,
    )
    assert.match(events, /Error: ErrImagePull/)
    return true
  })
}

async function runs(scene: Scene, plan: PodPlan): Promise<void> {
  const { cluster, namespace } = scene
  await createPod(scene, plan)
  await cluster.waitFor(`pod ${plan.name} to print what its image says`, async () =>
    (await cluster.kubectl('logs', '-n', namespace, plan.name)) === 'pulled\n' ? true : undefined,
  )
}

async function neverPulls(cluster: ClusterOnHosts): Promise<void> {
  const image = '127.0.0.1:5000/edge/absent:v1'
  await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: never, namespace: default }
spec:
  containers: [{ name: main, image: '${image}', imagePullPolicy: Never }]
`)
  const message = await untilWaiting(
    { cluster, namespace: 'default' },
    'never',
    /^ErrImageNeverPull$/,
  )
  assert.equal(message, `Container image "${image}" is not present with pull policy of Never`)
}

/** Resolves with the message that comes with the reason. */
async function untilWaiting(
  { cluster, namespace }: Pick<Scene, 'cluster' | 'namespace'>,
  pod: string,
  reason: RegExp,
): Promise<string> {
  const path = '{.status.containerStatuses[0].state.waiting}'
  return cluster.waitFor(`pod ${pod} to wait with ${reason.source}`, async () => {
    const text = await cluster.kubectl('get', 'pod', pod, '-n', namespace, '-o', `jsonpath=${path}`)
    // The API's JSON; a missing field shows as a reason that never comes.
    const waiting = JSON.parse(text || '{}') as { reason?: string; message?: string }
    return reason.test(waiting.reason ?? '') ? (waiting.message ?? '') : undefined
  })
}
