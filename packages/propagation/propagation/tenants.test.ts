import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError, type AnyObject, type KubeObject } from '@skerry/api'
import { anyObjects, resources, type ClusterClient, type TypedResource } from '@skerry/client'
import {
  manifestsOf,
  type OverridePolicy,
  overridePolicyResource,
  type Overriders,
  type PropagationPolicy,
  propagationPolicyResource,
  type ResourceBinding,
  resourceBindingResource,
  workNameOf,
  workResource,
} from '@skerry/karmada-kinds'
import {
  customizationResource,
  type Customization,
} from '../../interpreter/custom/customization.ts'
import { bindingRefusal } from './own-object.ts'
import { startFleetScene, type FleetScene } from './testing/fleet-scene.ts'

type PropagationSpec = PropagationPolicy['spec']

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const configMaps = anyObjects(resources.configMaps)
const secrets = anyObjects(resources.secrets)
const roles = anyObjects(resources.roles)
const roleBindings = anyObjects(resources.roleBindings)
const quotas = anyObjects(resources.resourceQuotas)

/** The tenant of these tests has every right in this namespace of the hub, and none elsewhere. */
const namespace = 'shop'

function policy(
  name: string,
  kinds: readonly string[],
  spec: Partial<PropagationSpec> = {},
): PropagationPolicy {
  const resourceSelectors = kinds.map((text) => {
    const [apiVersion = '', kind = ''] = text.split(' ')
    return { apiVersion, kind }
  })
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { namespace, name },
    spec: {
      resourceSelectors,
      placement: { clusterAffinity: { clusterNames: ['reef'] } },
      ...spec,
    },
  }
}

function override(
  name: string,
  selector: { apiVersion: string; kind: string },
  overriders: Overriders,
): OverridePolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'OverridePolicy',
    metadata: { namespace, name },
    spec: { resourceSelectors: [{ ...selector, name }], overrideRules: [{ overriders }] },
  }
}

function configMap(name: string, more: Partial<KubeObject['metadata']> = {}): AnyObject {
  const metadata = { namespace, name, ...more }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { colour: 'red' } }
}

function deployment(name: string): AnyObject {
  const labels = { app: name }
  const containers = [{ name: 'app', image: 'app' }]
  const template = { metadata: { labels }, spec: { containers } }
  const spec = { selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name }, spec }
}

/** Lists everything at an edge outside the tenant's namespace, except events. */
async function outside(edge: ClusterClient): Promise<string[]> {
  const found: string[] = []
  const { resources: served } = await edge.discover(soon())
  for (const { group, version, resource, isNamespaced, verbs } of served) {
    if (!verbs.includes('list') || resource === 'events') continue
    const kind: TypedResource<AnyObject> = { group, version, resource, isNamespaced }
    for (const object of (await edge.resource(kind).list({}, soon())).items) {
      const { namespace: of, name } = object.metadata
      if (of === namespace || (resource === 'namespaces' && name === namespace)) continue
      found.push(JSON.stringify([resource, object]))
    }
  }
  return found
}

async function makeBank(edge: ClusterClient): Promise<void> {
  const bank = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bank' } } as const
  await edge.resource(resources.namespaces).create(bank, soon())
  for (const name of ['vault', 'settings']) {
    await edge.resource(configMaps).create(configMap(name, { namespace: 'bank' }), soon())
  }
}

/** Waits until the hub has reported it in an event. */
async function untilEvent({ hub }: FleetScene, isWanted: (message: string) => boolean) {
  const events = hub.resource(resources.events)
  const { items, metadata } = await events.list({ namespace }, soon())
  if (items.some(({ message = '' }) => isWanted(message))) return
  const { resourceVersion = '' } = metadata
  for await (const event of events.watch({ namespace, resourceVersion }, soon())) {
    if (event.type !== 'BOOKMARK' && isWanted(event.object.message ?? '')) return
  }
  throw new Error('Cannot wait for an event: the watch has ended')
}

/** Creates one last object and waits for it at the edge: by then the hub has looked at all others. */
async function untilCanary(scene: FleetScene, name = 'canary'): Promise<void> {
  await scene.hub.resource(configMaps).create(configMap(name), soon())
  const where = { api: scene.edge('reef'), resource: configMaps, key: { namespace, name } }
  await scene.until(where, (object) => object !== undefined)
}

const stolen = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'stolen' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
}
const plain = (path: string, operator: 'add' | 'replace' | 'remove', value?: unknown) => ({
  path,
  operator,
  ...(value === undefined ? {} : { value }),
})

interface OverrideRow {
  readonly name: string
  /** The field that is named when the policy is written, if it is plain to see there. */
  readonly seen?: string
  /** The field that is named when the policy is applied. */
  readonly changed: string
  readonly overriders: Overriders
}

const overrides: readonly OverrideRow[] = [
  {
    name: 'becomes-a-cluster-role-binding',
    seen: '/kind',
    changed: 'apiVersion',
    overriders: {
      plaintext: [
        plain('/apiVersion', 'replace', stolen.apiVersion),
        plain('/kind', 'replace', stolen.kind),
        plain('/metadata/namespace', 'remove'),
        plain('/roleRef', 'add', stolen.roleRef),
        plain('/subjects', 'add', stolen.subjects),
      ],
    },
  },
  {
    name: 'becomes-a-secret',
    seen: '/kind',
    changed: 'kind',
    overriders: { plaintext: [plain('/kind', 'add', 'Secret')] },
  },
  {
    name: 'whole-replaced',
    changed: 'apiVersion',
    overriders: { plaintext: [plain('', 'replace', stolen)] },
  },
  {
    name: 'whole-added',
    changed: 'apiVersion',
    overriders: { plaintext: [plain('', 'add', stolen)] },
  },
  {
    name: 'metadata-replaced',
    changed: 'metadata.name',
    overriders: {
      plaintext: [plain('/metadata', 'replace', { namespace: 'bank', name: 'vault' })],
    },
  },
  {
    name: 'metadata-removed-and-added',
    changed: 'metadata.name',
    overriders: {
      plaintext: [
        plain('/metadata', 'remove'),
        plain('/metadata', 'add', { namespace: 'bank', name: 'vault' }),
      ],
    },
  },
  {
    name: 'vault',
    seen: '/metadata/namespace',
    changed: 'metadata.namespace',
    overriders: { plaintext: [plain('/metadata/namespace', 'replace', 'bank')] },
  },
  {
    name: 'namespace-removed',
    seen: '/metadata/namespace',
    changed: 'metadata.namespace',
    overriders: { plaintext: [plain('/metadata/namespace', 'remove')] },
  },
  {
    name: 'renamed',
    seen: '/metadata/name',
    changed: 'metadata.name',
    overriders: { plaintext: [plain('/metadata/name', 'add', 'settings')] },
  },
  {
    name: 'moved-by-an-image',
    seen: '/metadata/namespace',
    changed: 'metadata.namespace',
    overriders: {
      imageOverrider: [
        {
          predicate: { path: '/metadata/namespace' },
          component: 'Repository',
          operator: 'replace',
          value: 'bank',
        },
      ],
    },
  },
  {
    name: 'moved-by-a-document',
    seen: '/metadata/namespace',
    changed: 'metadata.namespace',
    overriders: {
      fieldOverrider: [
        {
          fieldPath: '/metadata/namespace',
          yaml: [{ subPath: '', operator: 'replace', value: 'bank' }],
        },
      ],
    },
  },
]

const settings = { apiVersion: 'v1', kind: 'ConfigMap' }

test('an override that changes the identity of an object is refused where it is written', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const policies = scene.hub.resource(overridePolicyResource)
  for (const { name, seen, overriders } of overrides) {
    const written = policies.create(override(name, settings, overriders), soon())
    if (seen === undefined) await written
    else await assert.rejects(written, isForbidden(seen), name)
  }
  // The form of before overrideRules is one rule.
  const { spec, ...rest } = override('old', settings, {})
  const overriders = { plaintext: [plain('/metadata/namespace', 'replace', 'bank')] }
  const { resourceSelectors = [] } = spec
  const old = { ...rest, spec: { resourceSelectors, overriders } }
  await assert.rejects(policies.create(old, soon()), isForbidden('/metadata/namespace'))
})

function isForbidden(path: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof StatusError &&
    error.message.includes(`must keep ${path};`) &&
    error.message.includes('--allow-any-override')
}

test('an override that changes the identity of an object is refused where it is applied, in an event', async () => {
  const admits = { anyOverride: true }
  await using scene = await startFleetScene(['reef'], soon(), { rules: {}, admits })
  const { hub } = scene
  const edge = scene.edge('reef')
  await makeBank(edge)
  const before = await outside(edge)
  for (const { name, overriders } of overrides) {
    await hub.resource(overridePolicyResource).create(override(name, settings, overriders), soon())
    await hub.resource(configMaps).create(configMap(name), soon())
  }
  await hub.resource(propagationPolicyResource).create(policy('all', ['v1 ConfigMap']), soon())
  for (const { name, changed } of overrides) {
    const why = `Cannot apply OverridePolicy "shop/${name}" to ConfigMap "shop/${name}": it changes ${changed},`
    await untilEvent(scene, (message) => message.includes(why))
  }
  await untilCanary(scene)
  const { items } = await edge.resource(configMaps).list({ namespace }, soon())
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['canary'],
  )
  assert.deepEqual(await outside(edge), before)
})

test('a hub that is configured to lets overrides do everything that Karmada lets them do', async () => {
  await using scene = await startFleetScene(['reef'], soon(), { rules: { anyOverride: true } })
  const { hub } = scene
  const edge = scene.edge('reef')
  await makeBank(edge)
  const [first] = overrides
  assert.ok(first)
  const { name, overriders } = first
  await hub.resource(overridePolicyResource).create(override(name, settings, overriders), soon())
  await hub.resource(configMaps).create(configMap(name), soon())
  await hub.resource(propagationPolicyResource).create(policy('all', ['v1 ConfigMap']), soon())
  const where = { api: edge, resource: anyObjects(resources.clusterRoleBindings), key: { name } }
  await scene.until(where, (object) => object !== undefined)
})

test('an override changes neither grants nor limits', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const group = 'rbac.authorization.k8s.io'
  const rbac = `${group}/v1`
  const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const roleRef = { apiGroup: group, kind: 'Role', name: 'reader' }
  const guarded = [
    {
      resource: roles,
      object: {
        apiVersion: rbac,
        kind: 'Role',
        metadata: { namespace, name: 'reader' },
        rules: [],
      },
      field: 'rules',
      patch: plain('/rules', 'replace', all),
    },
    {
      resource: roleBindings,
      object: {
        apiVersion: rbac,
        kind: 'RoleBinding',
        metadata: { namespace, name: 'readers' },
        roleRef,
        subjects: stolen.subjects,
      },
      field: 'roleRef',
      patch: plain('/roleRef/name', 'replace', 'cluster-admin'),
    },
    {
      resource: roleBindings,
      object: {
        apiVersion: rbac,
        kind: 'RoleBinding',
        metadata: { namespace, name: 'writers' },
        roleRef,
        subjects: stolen.subjects,
      },
      field: 'subjects',
      patch: plain('/subjects/0/name', 'replace', 'eve'),
    },
    {
      resource: quotas,
      object: {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { namespace, name: 'few' },
        spec: { hard: { pods: '1' } },
      },
      field: 'spec',
      patch: plain('/spec/hard/pods', 'replace', '1000'),
    },
  ]
  const kinds = [`${rbac} Role`, `${rbac} RoleBinding`, 'v1 ResourceQuota', 'v1 ConfigMap']
  for (const { resource, object, patch } of guarded) {
    const { apiVersion, kind, metadata } = object
    await hub.resource(resource).create(object, soon())
    const written = override(metadata.name, { apiVersion, kind }, { plaintext: [patch] })
    await hub.resource(overridePolicyResource).create(written, soon())
  }
  await hub.resource(propagationPolicyResource).create(policy('all', kinds), soon())
  for (const { object, field } of guarded) {
    const { name } = object.metadata
    const why = `OverridePolicy "shop/${name}" to ${object.kind} "shop/${name}": it changes ${field},`
    await untilEvent(scene, (message) => message.includes(why))
  }
  // Labels and annotations, which serve people and tools, may differ.
  const label = { labelsOverrider: [{ operator: 'add' as const, value: { site: 'reef' } }] }
  const relabel = override('reader', { apiVersion: rbac, kind: 'Role' }, label)
  await hub.resource(overridePolicyResource).delete({ namespace, name: 'reader' }, soon())
  await hub.resource(overridePolicyResource).create(relabel, soon())
  const where = { api: scene.edge('reef'), resource: roles, key: { namespace, name: 'reader' } }
  const found = await scene.until(where, (role) => role?.metadata.labels?.['site'] === 'reef')
  assert.deepEqual(found?.['rules'] ?? [], [])
})

function binding(name: string, resource: ResourceBinding['spec']['resource']): ResourceBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace, name },
    spec: { resource, clusters: [{ name: 'reef' }] },
  }
}

const vault = { apiVersion: 'v1', kind: 'Secret', namespace: 'bank', name: 'vault' }

test('a binding takes nothing to an edge but objects of its own namespace', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const edge = scene.edge('reef')
  const before = await outside(edge)
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'bank', name: 'vault' },
  }
  await hub.resource(secrets).create(secret, soon())
  const role = { apiVersion: stolen.apiVersion, kind: 'ClusterRole', metadata: { name: 'root' } }
  await hub.resource(anyObjects(resources.clusterRoles)).create(role, soon())
  await hub.resource(configMaps).create(configMap('kube-root-ca.crt'), soon())
  const bindings = hub.resource(resourceBindingResource)
  await assert.rejects(bindings.create(binding('vault', vault), soon()), (error: unknown) => {
    assert.ok(error instanceof StatusError)
    assert.match(error.message, /spec\.resource\.namespace.*must be the namespace of the binding/)
    return true
  })
  const ofCluster = { apiVersion: stolen.apiVersion, kind: 'ClusterRole', name: 'root' }
  await bindings.create(binding('root', ofCluster), soon())
  await bindings.create(binding('root-here', { ...ofCluster, namespace }), soon())
  const ca = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'kube-root-ca.crt' }
  await bindings.create(binding('ca', ca), soon())
  await untilEvent(scene, (message) => message.includes('Cannot propagate ClusterRole "root"'))
  await untilEvent(scene, (message) => message.includes('"shop/kube-root-ca.crt"'))
  await hub.resource(propagationPolicyResource).create(policy('all', ['v1 ConfigMap']), soon())
  await untilCanary(scene)
  assert.deepEqual(await outside(edge), before)
  const { items } = await edge.resource(configMaps).list({ namespace }, soon())
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['canary'],
  )
})

test('a binding older than the rule is refused as well', () => {
  assert.match(bindingRefusal(binding('vault', vault)) ?? '', /objects of its own namespace only/)
  const own = { ...vault, namespace }
  assert.equal(bindingRefusal(binding('vault', own)), undefined)
})

const takesFromBank: Customization = {
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterCustomization',
  metadata: { name: 'settings' },
  spec: {
    target: { apiVersion: 'v1', kind: 'ConfigMap' },
    customizations: {
      dependencyInterpretation: {
        luaScript: `function GetDependencies(o)
          if o.data.needs == nil then return {} end
          return {
            { apiVersion = "v1", kind = "Secret", namespace = o.data.of, name = o.data.needs },
            { apiVersion = "v1", kind = "Secret", namespace = o.metadata.namespace, name = "own" },
          }
        end`,
      },
    },
  },
}

test('dependencies of other namespaces stay where they are, unless the hub is configured otherwise', async () => {
  for (const foreignDependencies of [false, true]) {
    await using scene = await startFleetScene(['reef'], soon(), { rules: { foreignDependencies } })
    const { hub } = scene
    const edge = scene.edge('reef')
    await hub.resource(customizationResource).create(takesFromBank, soon())
    for (const metadata of [
      { namespace: 'bank', name: 'vault' },
      { namespace, name: 'own' },
    ]) {
      await hub.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata }, soon())
    }
    const taking = { ...configMap('till'), data: { of: 'bank', needs: 'vault' } }
    await hub.resource(configMaps).create(taking, soon())
    const written = policy('all', ['v1 ConfigMap'], { propagateDeps: true })
    await hub.resource(propagationPolicyResource).create(written, soon())
    const own = { api: edge, resource: secrets, key: { namespace, name: 'own' } }
    await scene.until(own, (object) => object !== undefined)
    if (foreignDependencies) {
      const foreign = { api: edge, resource: secrets, key: { namespace: 'bank', name: 'vault' } }
      await scene.until(foreign, (object) => object !== undefined)
      continue
    }
    await untilEvent(scene, (message) =>
      /Secret "bank\/vault".*--allow-foreign-dependencies$/.test(message),
    )
    const found = await hub.resource(resourceBindingResource).list({ namespace: 'bank' }, soon())
    assert.deepEqual(found.items, [])
  }
})

test('a policy of a namespace selects nothing of others, and nothing of the whole hub', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const edge = scene.edge('reef')
  await makeBank(edge)
  const before = await outside(edge)
  const policies = hub.resource(propagationPolicyResource)
  const ofBank = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'bank' }
  const foreign = policy('bank', [], { resourceSelectors: [ofBank] })
  await assert.rejects(policies.create(foreign, soon()), StatusError)
  await assert.rejects(
    hub.resource(overridePolicyResource).create(
      {
        ...override('bank', settings, {}),
        spec: { resourceSelectors: [ofBank], overrideRules: [] },
      },
      soon(),
    ),
    StatusError,
  )
  await hub.resource(configMaps).create(configMap('vault', { namespace: 'bank' }), soon())
  const kinds = [
    'v1 ConfigMap',
    'v1 Namespace',
    'v1 ServiceAccount',
    'rbac.authorization.k8s.io/v1 ClusterRole',
    'policy.karmada.io/v1alpha1 OverridePolicy',
    'cluster.karmada.io/v1alpha1 Cluster',
  ]
  const role = { apiVersion: stolen.apiVersion, kind: 'ClusterRole', metadata: { name: 'root' } }
  await hub.resource(anyObjects(resources.clusterRoles)).create(role, soon())
  await policies.create(policy('all', kinds, { conflictResolution: 'Overwrite' }), soon())
  await hub.resource(overridePolicyResource).create(override('any', settings, {}), soon())
  await untilCanary(scene)
  assert.deepEqual(await outside(edge), before)
  const { items } = await hub.resource(resourceBindingResource).list({}, soon())
  assert.deepEqual(
    items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ['shop/canary-configmap'],
  )
})

test("a template's claims about its owners, its Work and its policy are not believed", async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const edge = scene.edge('reef')
  await makeBank(edge)
  const before = await outside(edge)
  // A policy of others that selects ConfigMaps of the same name in its own namespace.
  const policies = hub.resource(propagationPolicyResource)
  const own = policy('all', ['v1 ConfigMap', 'apps/v1 Deployment'])
  const bank = await policies.create(
    { ...own, metadata: { namespace: 'bank', name: 'all' } },
    soon(),
  )
  const idKey = 'propagationpolicy.karmada.io/permanent-id'
  const forged = configMap('forged', {
    labels: {
      'karmada.io/managed': 'false',
      'work.karmada.io/permanent-id': 'mine',
      [idKey]: bank.metadata.labels?.[idKey] ?? '',
    },
    annotations: {
      'work.karmada.io/name': 'other',
      'work.karmada.io/namespace': 'karmada-es-shore',
      'resourcebinding.karmada.io/name': 'vault-configmap',
      'resourcebinding.karmada.io/namespace': 'bank',
      'resourcetemplate.karmada.io/managed-labels': 'a,b',
      'propagationpolicy.karmada.io/name': 'all',
      'propagationpolicy.karmada.io/namespace': 'bank',
    },
    finalizers: ['example.com/held'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'vault', uid: 'any' }],
  })
  await hub.resource(configMaps).create(forged, soon())
  // A user who may write a template may write its status, too.
  const deployments = hub.resource(anyObjects(resources.deployments))
  const told = await deployments.create(deployment('told'), soon())
  const status = { replicas: 9, readyReplicas: 9, conditions: [] }
  await deployments.updateStatus({ ...told, status }, soon())
  // A policy of others can be deleted: a forged claim does not hold it.
  await policies.delete({ namespace: 'bank', name: 'all' }, soon())
  const gone = {
    api: hub,
    resource: propagationPolicyResource,
    key: { namespace: 'bank', name: 'all' },
  }
  await scene.until(gone, (object) => object === undefined)
  await policies.create(own, soon())
  const key = { namespace, name: 'forged' }
  const found = await scene.until({ api: edge, resource: configMaps, key }, (object) => {
    return object !== undefined
  })
  const { labels = {}, annotations = {}, finalizers, ownerReferences } = found?.metadata ?? {}
  assert.equal(labels['karmada.io/managed'], 'true')
  assert.equal(annotations['work.karmada.io/namespace'], 'karmada-es-reef')
  assert.notEqual(annotations['work.karmada.io/name'], 'other')
  assert.equal(annotations['resourcebinding.karmada.io/name'], 'forged-configmap')
  assert.equal(annotations['resourcebinding.karmada.io/namespace'], namespace)
  assert.deepEqual([finalizers, ownerReferences], [undefined, undefined])
  const work = {
    namespace: 'karmada-es-reef',
    name: workNameOf({ kind: 'Deployment', namespace, name: 'told' }),
  }
  const sent = await scene.until({ api: hub, resource: workResource, key: work }, (object) => {
    return object !== undefined
  })
  const [manifest] = sent ? manifestsOf(sent) : []
  assert.ok(manifest && !('status' in manifest), 'the state in a template goes to no edge')
  assert.deepEqual(await outside(edge), before)
})

test('a policy may overwrite objects of an edge only in its own namespace', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const edge = scene.edge('reef')
  await makeBank(edge)
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as const
  await edge.resource(resources.namespaces).create(shop, soon())
  for (const name of ['settings', 'kept']) {
    const theirs = { ...configMap(name), data: { of: 'the edge' } }
    await edge.resource(configMaps).create(theirs, soon())
  }
  const before = await outside(edge)
  for (const name of ['settings', 'kept']) {
    await hub.resource(configMaps).create(configMap(name), soon())
  }
  const policies = hub.resource(propagationPolicyResource)
  const selectorOf = (name: string) => [{ apiVersion: 'v1', kind: 'ConfigMap', name }]
  const overwrite = { resourceSelectors: selectorOf('settings'), conflictResolution: 'Overwrite' }
  await policies.create(policy('a', [], overwrite as Partial<PropagationSpec>), soon())
  await policies.create(policy('b', [], { resourceSelectors: selectorOf('kept') }), soon())
  const where = { api: edge, resource: configMaps, key: { namespace, name: 'settings' } }
  await scene.until(where, (object) => equalData(object, { colour: 'red' }))
  await scene.until(
    { api: hub, resource: resourceBindingResource, key: { namespace, name: 'kept-configmap' } },
    (found) => (found?.status?.aggregatedStatus?.[0]?.appliedMessage ?? '') !== '',
  )
  const kept = await edge.resource(configMaps).get({ namespace, name: 'kept' }, soon())
  assert.ok(equalData(kept, { of: 'the edge' }))
  assert.deepEqual(await outside(edge), before)
})

function equalData(object: AnyObject | undefined, data: Record<string, string>): boolean {
  return JSON.stringify(object?.['data']) === JSON.stringify(data)
}
