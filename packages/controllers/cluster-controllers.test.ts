import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, Secret, Service } from '@skerry/api'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld } from './testing/controller-world.ts'

const namespace = 'default'

test('a replication controller keeps its pods and lets go of those that no longer match', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['replicationcontroller-controller'],
  })
  const labels = { app: 'web' }
  await world.client(resources.replicationControllers).create(
    {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 2,
        selector: labels,
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'main', image: 'a' }] },
        },
      },
    },
    world.signal,
  )
  const status = await world.eventually(resources.replicationControllers, ([each]) =>
    each?.status?.readyReplicas === 2 ? each.status : undefined,
  )
  assert.equal(status.fullyLabeledReplicas, 2)
  const [first] = await world.eventually(resources.pods, (all) =>
    all.length === 2 ? all : undefined,
  )
  assert.equal(first?.metadata.ownerReferences?.[0]?.kind, 'ReplicationController')
  const name = first?.metadata.name ?? ''
  const patch = { metadata: { labels: { app: 'other' } } }
  await world.client(resources.pods).patch({ namespace, name, type: 'merge', patch }, world.signal)
  const all = await world.eventually(resources.pods, (pods) =>
    pods.length === 3 && pods.some((each) => each.metadata.ownerReferences === undefined)
      ? pods
      : undefined,
  )
  assert.equal(
    all.find(({ metadata }) => metadata.name === name)?.metadata.labels?.['app'],
    'other',
  )
})

const external: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'external', namespace },
  spec: { ports: [{ port: 80 }] },
}

test('endpoints that a user writes become slices, follow changes and go with them', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['endpointslice-mirroring-controller'],
  })
  const endpoints = world.client(resources.endpoints)
  await world.client(resources.services).create(external, world.signal)
  const subsets = [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 8443 }] }]
  const metadata = { name: 'external', namespace, labels: { team: 'a' } }
  await endpoints.create({ apiVersion: 'v1', kind: 'Endpoints', metadata, subsets }, world.signal)
  const slice = await world.eventually(resources.endpointSlices, ([each]) => each)
  assert.deepEqual(slice.endpoints?.[0]?.addresses, ['10.1.2.3'])
  assert.equal(slice.ports?.[0]?.port, 8443)
  assert.deepEqual(slice.metadata.labels, {
    team: 'a',
    'kubernetes.io/service-name': 'external',
    'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
  })
  const patch = { subsets: [{ addresses: [{ ip: '10.1.2.4' }], ports: [{ port: 8443 }] }] }
  const at = { namespace, name: 'external' }
  await endpoints.patch({ ...at, type: 'merge', patch }, world.signal)
  await world.eventually(resources.endpointSlices, ([each]) =>
    each?.endpoints?.[0]?.addresses[0] === '10.1.2.4' ? true : undefined,
  )
  await endpoints.delete(at, world.signal)
  await world.eventually(resources.endpointSlices, (all) => all.length === 0 || undefined)
})

test('the slices of a service follow its nodes to another zone', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['endpointslice-controller'],
  })
  const nodes = world.client(resources.nodes)
  const pods = world.client(resources.pods)
  const zone = (value: string) => ({ 'topology.kubernetes.io/zone': value })
  const node = { name: 'n1', labels: zone('hall') }
  await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: node }, world.signal)
  const near = {
    selector: { app: 'near' },
    trafficDistribution: 'PreferSameZone',
    ports: [{ port: 80 }],
  }
  const metadata = { name: 'near', namespace, labels: { app: 'near' } }
  await world
    .client(resources.services)
    .create({ apiVersion: 'v1', kind: 'Service', metadata, spec: near }, world.signal)
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'example' }] }
  await pods.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, world.signal)
  const status = {
    phase: 'Running',
    podIP: '10.42.0.2',
    podIPs: [{ ip: '10.42.0.2' }],
    conditions: [{ type: 'Ready', status: 'True' }],
  }
  const at = { namespace, name: 'near' }
  await pods.patch({ ...at, subresource: 'status', type: 'merge', patch: { status } }, world.signal)
  const untilIn = (name: string): Promise<unknown> =>
    world.eventually(resources.endpointSlices, ([slice]) => {
      const [endpoint] = slice?.endpoints ?? []
      return endpoint?.zone === name && endpoint.hints?.forZones?.[0]?.name === name
        ? true
        : undefined
    })
  await untilIn('hall')
  const patch = { metadata: { labels: zone('yard') } }
  await nodes.patch({ name: 'n1', type: 'merge', patch }, world.signal)
  await untilIn('yard')
})

test('an aggregated role has the rules of the roles that it selects', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['clusterrole-aggregation-controller'],
  })
  const roles = world.client(resources.clusterRoles)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
  const clusterRoleSelectors = [{ matchLabels: { into: 'sum' } }]
  await roles.create(
    { ...role, metadata: { name: 'sum' }, aggregationRule: { clusterRoleSelectors }, rules: [] },
    world.signal,
  )
  const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
  const part = { ...role, metadata: { name: 'part', labels: { into: 'sum' } }, rules: [rule] }
  await roles.create(part, world.signal)
  const rulesOfSum = (count: number): Promise<unknown> =>
    world.eventually(resources.clusterRoles, (all) => {
      const found = all.find(({ metadata }) => metadata.name === 'sum')?.rules ?? []
      return found.length === count ? found : undefined
    })
  assert.deepEqual(await rulesOfSum(1), [rule])
  await roles.delete({ name: 'part' }, world.signal)
  await rulesOfSum(0)
})

test('a service address range is ready, and stays while a service has an address of it', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['service-cidr-controller', 'service-ip-address-controller'],
  })
  const cidrs = world.client(resources.serviceCIDRs)
  const service = await world.client(resources.services).create(external, world.signal)
  const address = service.spec?.clusterIP ?? ''
  const cidr = `${address.split('.').slice(0, 3).join('.')}.0/24`
  await cidrs.create(
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'kubernetes' },
      spec: { cidrs: [cidr] },
    },
    world.signal,
  )
  const ready = (status: string): Promise<string | undefined> =>
    world.eventually(resources.serviceCIDRs, ([each]) => {
      const found = each?.status?.conditions?.find(({ type }) => type === 'Ready')
      return found?.status === status ? (found.reason ?? '') : undefined
    })
  await ready('True')
  const [known] = await world.eventually(resources.ipAddresses, (all) =>
    all.length === 1 ? all : undefined,
  )
  assert.equal(known?.metadata.name, address)
  assert.equal(known?.spec?.parentRef?.name, 'external')
  await cidrs.delete({ name: 'kubernetes' }, world.signal)
  assert.equal(await ready('False'), 'Terminating')
})

test('a secret for a service account is filled in, and goes with the account', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  const { serviceAccountTokenController } = await import('./mod.ts')
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: [],
    configured: [serviceAccountTokenController('-----BEGIN CERTIFICATE-----')],
  })
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot', namespace },
  }
  await world.client(resources.serviceAccounts).create(account, world.signal)
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'robot-token',
      namespace,
      annotations: { 'kubernetes.io/service-account.name': 'robot' },
    },
    type: 'kubernetes.io/service-account-token',
  }
  await world.client(resources.secrets).create(secret, world.signal)
  const data = await world.eventually(resources.secrets, (all) =>
    all.find((each) => each.data?.['token'] !== undefined),
  )
  assert.deepEqual(Object.keys(data.data ?? {}).toSorted(), ['ca.crt', 'namespace', 'token'])
  await world.client(resources.serviceAccounts).delete({ namespace, name: 'robot' }, world.signal)
  await world.eventually(resources.secrets, (all) =>
    all.every(({ metadata }) => metadata.name !== 'robot-token') ? true : undefined,
  )
})

test('a pod with an ephemeral volume gets a claim of its own', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['ephemeral-volume-controller'],
    behaviour: () => 'stuck',
  })
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  await world.client(resources.pods).create(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace },
      spec: {
        containers: [{ name: 'main', image: 'a' }],
        volumes: [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec } } }],
      },
    },
    world.signal,
  )
  const claim = await world.eventually(resources.persistentVolumeClaims, ([each]) => each)
  assert.equal(claim.metadata.name, 'p-data')
  assert.equal(claim.metadata.ownerReferences?.[0]?.kind, 'Pod')
})

test('cluster-info is signed with every token that may sign, and no longer when it goes', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['bootstrap-signer-controller'],
  })
  const token = (id: string, isSigning: boolean): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': String(isSigning),
    },
  })
  await world.client(resources.secrets).create(token('aaaaaa', true), world.signal)
  await world.client(resources.secrets).create(token('bbbbbb', false), world.signal)
  const metadata = { name: 'cluster-info', namespace: 'kube-public' }
  const data = { kubeconfig: 'x' }
  await world
    .client(resources.configMaps)
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, world.signal)
  const keysAre = (...keys: string[]): Promise<true> =>
    world.eventually(resources.configMaps, (maps) => {
      const map = maps.find((each) => each.metadata.name === 'cluster-info')
      return Object.keys(map?.data ?? {})
        .toSorted()
        .join() === keys.join()
        ? true
        : undefined
    })
  await keysAre('jws-kubeconfig-aaaaaa', 'kubeconfig')
  const key = { namespace: 'kube-system', name: 'bootstrap-token-aaaaaa' }
  await world.client(resources.secrets).delete(key, world.signal)
  await keysAre('kubeconfig')
})

test('a pod that no longer has to leave its node gets an event that says so', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['taint-eviction-controller'],
  })
  const taints = [{ key: 'k', effect: 'NoExecute' }]
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: { taints } }
  await world.client(resources.nodes).create(node, world.signal)
  const tolerations = [
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 600 },
  ]
  const pod = (name: string, tolerated: typeof tolerations): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'main', image: 'a' }],
      tolerations: tolerated,
    },
  })
  await world.client(resources.pods).create(pod('stays', tolerations), world.signal)
  await world.client(resources.pods).create(pod('goes', []), world.signal)
  const told = (message: string): Promise<true> =>
    world.eventually(resources.events, (events) =>
      events.some((each) => each.message === message) ? true : undefined,
    )
  await told('Marking for deletion Pod default/goes')
  const patch = { spec: { taints: null } }
  await world.client(resources.nodes).patch({ name: 'n', type: 'merge', patch }, world.signal)
  await told('Cancelling deletion of Pod default/stays')
})
