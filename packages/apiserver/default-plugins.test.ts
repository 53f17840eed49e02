import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, ResourceQuota } from '@skerry/api'
import { createSigningRequest, generateKeyPair } from '@skerry/pki'
import type { UserInfo } from './contract/access.ts'
import type { Operation } from './contract/admission.ts'
import { admissionRequest } from './testing/admission-request.ts'
import { ObjectTable } from './testing/object-table.ts'
import { pluginDeps } from './testing/plugin-deps.ts'
import { getTyped } from './contract/typed-objects.ts'
import { wellKnown } from './contract/well-known-resources.ts'
import { createDefaultPlugins } from './default-plugins.ts'

const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes'], extra: {} }
const jane: UserInfo = { name: 'jane', groups: [], extra: {} }

interface Attempt {
  operation?: Operation
  /** `[group/]resource[:subresource]` */
  target: string
  object?: object
  old?: object
  as?: UserInfo
  warnings?: string[]
}

/** Runs all default plugins as the registry does: all mutating ones, then all validating ones. */
async function attempt(objects: ObjectTable, tried: Attempt): Promise<AnyObject> {
  const [path = '', subresource = ''] = tried.target.split(':')
  const [group = '', resource = ''] = path.includes('/') ? path.split('/') : ['', path]
  const request = admissionRequest({
    operation: tried.operation ?? 'CREATE',
    resource: { group, version: 'v1', resource },
    subresource,
    ...(tried.object ? { object: structuredClone(tried.object) } : {}),
    ...(tried.old ? { oldObject: tried.old } : {}),
    user: tried.as ?? jane,
    ...(tried.warnings ? { warnings: tried.warnings } : {}),
  })
  const plugins = createDefaultPlugins(pluginDeps(objects)).filter((one) => one.handles(request))
  for (const plugin of plugins) await plugin.admit?.(request)
  for (const plugin of plugins) await plugin.validate?.(request)
  return request.object ?? { apiVersion: '', kind: '', metadata: {} }
}

function shop(labels: Record<string, string> = {}): ObjectTable {
  return new ObjectTable()
    .put(wellKnown.namespaces, { metadata: { name: 'shop', labels } })
    .put(wellKnown.namespaces, { metadata: { name: 'kube-node-lease' } })
    .put(wellKnown.serviceAccounts, {
      metadata: { name: 'default', namespace: 'shop' },
      automountServiceAccountToken: false,
    })
}
const inShop = (name: string, rest: object = {}) => ({
  metadata: { name, namespace: 'shop' },
  ...rest,
})
const podWith = (spec: object = {}) =>
  inShop('web', { spec: { containers: [{ name: 'a' }], ...spec } })

test('a plain pod gets priority, preemption policy and the two tolerations', async () => {
  const pod = await attempt(shop(), { target: 'pods', object: podWith() })
  assert.deepEqual(pod.spec, {
    containers: [{ name: 'a' }],
    serviceAccountName: 'default',
    serviceAccount: 'default',
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: ['not-ready', 'unreachable'].map((what) => ({
      key: `node.kubernetes.io/${what}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  })
})

test('priority comes from the named class, else the default one, and cannot be made up', async () => {
  const objects = shop()
    .put(wellKnown.priorityClasses, {
      metadata: { name: 'high' },
      value: 1000,
      preemptionPolicy: 'Never',
    })
    .put(wellKnown.priorityClasses, { metadata: { name: 'usual' }, value: 10, globalDefault: true })
  const priorityOf = async (spec: object) => {
    const pod = await attempt(objects, { target: 'pods', object: podWith(spec) })
    const { priority, priorityClassName, preemptionPolicy } = pod.spec as Record<string, unknown>
    return [priority, priorityClassName, preemptionPolicy]
  }
  assert.deepEqual(await priorityOf({ priorityClassName: 'high' }), [1000, 'high', 'Never'])
  assert.deepEqual(await priorityOf({}), [10, 'usual', undefined])
  await assert.rejects(priorityOf({ priorityClassName: 'gone' }), {
    code: 403,
    message: 'pods "web" is forbidden: no PriorityClass with name gone was found',
  })
  await assert.rejects(priorityOf({ priority: 5 }), /integer value of priority \(5\)/)
  await assert.rejects(
    attempt(objects, {
      target: 'scheduling.k8s.io/priorityclasses',
      object: { metadata: { name: 'other' }, value: 1, globalDefault: true },
    }),
    /PriorityClass usual is already marked as default/,
  )
})

const range = (...limits: object[]) => inShop('limits', { spec: { limits } })
test('a limit range fills in values that a container omits, says so, and holds the rest to its bounds', async () => {
  const objects = shop().put(
    wellKnown.limitRanges,
    range({
      type: 'Container',
      default: { cpu: '500m' },
      defaultRequest: { cpu: '100m' },
      max: { cpu: '1' },
      min: { cpu: '50m' },
    }),
  )
  const withCpu = (resources: object) =>
    attempt(objects, {
      target: 'pods',
      object: podWith({ containers: [{ name: 'a', resources }] }),
    })
  const pod = await attempt(objects, { target: 'pods', object: podWith() })
  const { containers } = pod.spec as { containers: { resources: object }[] }
  assert.deepEqual(containers[0]?.resources, { requests: { cpu: '100m' }, limits: { cpu: '500m' } })
  assert.equal(
    pod.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu request for container a; cpu limit for container a',
  )
  await assert.rejects(withCpu({ limits: { cpu: '2' } }), {
    message: 'pods "web" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
  })
  await assert.rejects(withCpu({ requests: { cpu: '10m' } }), {
    message: 'pods "web" is forbidden: minimum cpu usage per Container is 50m, but request is 10m',
  })
})

test('pods and claims are held to bounds of their own, and ratios too', async () => {
  const objects = shop().put(
    wellKnown.limitRanges,
    range(
      { type: 'Pod', max: { memory: '1Gi' } },
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      { type: 'PersistentVolumeClaim', max: { storage: '5Gi' }, min: { storage: '1Gi' } },
    ),
  )
  const resources = (cpuLimit: string, memory: string) => ({
    requests: { cpu: '1', memory },
    limits: { cpu: cpuLimit, memory },
  })
  const two = (cpuLimit: string, memory: string) =>
    podWith({
      containers: ['a', 'b'].map((name) => ({ name, resources: resources(cpuLimit, memory) })),
    })
  await attempt(objects, { target: 'pods', object: two('2', '512Mi') })
  await assert.rejects(
    attempt(objects, { target: 'pods', object: two('2', '600Mi') }),
    /per Pod is 1Gi, but limit is 1200Mi/,
  )
  await assert.rejects(
    attempt(objects, { target: 'pods', object: two('3', '1Mi') }),
    /provided ratio is 3\.000000/,
  )
  const claim = (storage: string) => ({
    target: 'persistentvolumeclaims',
    object: inShop('data', { spec: { resources: { requests: { storage } } } }),
  })
  await attempt(objects, claim('2Gi'))
  await assert.rejects(
    attempt(objects, claim('6Gi')),
    /maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi/,
  )
})

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-n1', controller: true }
const mirror = (metadata: object, spec: object = {}) => ({
  metadata: {
    name: 'm',
    namespace: 'shop',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [owner],
    ...metadata,
  },
  spec: { nodeName: 'n1', containers: [], ...spec },
})
const nodeObject = (name: string, labels: object = {}, spec: object = {}) => ({
  metadata: { name, labels },
  spec,
})
const tokenVolumes = [
  { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
]
const nodeWrites: [name: string, tried: Attempt, refusal?: RegExp][] = [
  ['its mirror pod', { target: 'pods', object: mirror({}) }],
  [
    'an ordinary pod',
    { target: 'pods', object: mirror({ annotations: {} }) },
    /does not have "kubernetes.io\/config.mirror" annotation/,
  ],
  [
    'a mirror pod for another node',
    { target: 'pods', object: mirror({}, { nodeName: 'n2' }) },
    /spec.nodeName set to itself/,
  ],
  [
    'a mirror pod that nobody owns',
    { target: 'pods', object: mirror({ ownerReferences: [] }) },
    /owner reference set to itself/,
  ],
  [
    'a mirror pod that reads a secret',
    {
      target: 'pods',
      object: mirror({}, { volumes: [{ name: 's', secret: { secretName: 'x' } }] }),
    },
    /can not create pods that reference secrets|may not reference secrets/,
  ],
  [
    'its own node',
    {
      target: 'nodes',
      object: nodeObject('n1', { 'kubernetes.io/hostname': 'n1', 'example.com/rack': '7' }),
    },
  ],
  [
    'another node',
    { target: 'nodes', object: nodeObject('n2') },
    /not allowed to modify node "n2"/,
  ],
  [
    'a label that draws pods',
    { target: 'nodes', object: nodeObject('n1', { 'node-role.kubernetes.io/control-plane': '' }) },
    /set the following labels: node-role.kubernetes.io\/control-plane/,
  ],
  [
    'its own taints',
    {
      operation: 'UPDATE',
      target: 'nodes',
      object: nodeObject('n1', {}, { taints: [] }),
      old: nodeObject('n1', {}, { taints: [{ key: 'a' }] }),
    },
    /not allowed to modify taints/,
  ],
  [
    'the status of its pod',
    { operation: 'UPDATE', target: 'pods:status', object: mirror({}), old: mirror({}) },
  ],
  [
    'the status of another pod',
    {
      operation: 'UPDATE',
      target: 'pods:status',
      object: mirror({}),
      old: mirror({}, { nodeName: 'n2' }),
    },
    /can only update pod status/,
  ],
  [
    'labels through the status',
    {
      operation: 'UPDATE',
      target: 'pods:status',
      object: mirror({ labels: { a: 'b' } }),
      old: mirror({}),
    },
    /cannot update labels/,
  ],
  [
    'the end of another pod',
    { operation: 'DELETE', target: 'pods', old: mirror({}, { nodeName: 'n2' }) },
    /can only delete pods/,
  ],
  [
    'its lease',
    {
      target: 'coordination.k8s.io/leases',
      object: { metadata: { name: 'n1', namespace: 'kube-node-lease' } },
    },
  ],
  [
    'another lease',
    {
      target: 'coordination.k8s.io/leases',
      object: { metadata: { name: 'n2', namespace: 'kube-node-lease' } },
    },
    /same name as the requesting node/,
  ],
  [
    'a token for a pod of its own',
    {
      target: 'serviceaccounts:token',
      object: inShop('default', {
        spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'uid-mine' } },
      }),
    },
  ],
  [
    'a token for an audience that no volume of the pod names',
    {
      target: 'serviceaccounts:token',
      object: inShop('default', {
        spec: {
          audiences: ['vault'],
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'uid-mine' },
        },
      }),
    },
    /audience "vault" not found in pod spec volume, system:node:n1 is not authorized/,
  ],
  [
    'a token for a pod elsewhere',
    {
      target: 'serviceaccounts:token',
      object: inShop('default', {
        spec: {
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'theirs', uid: 'uid-theirs' },
        },
      }),
    },
    /scheduled on a different node/,
  ],
  [
    'a token for nobody',
    { target: 'serviceaccounts:token', object: inShop('default', { spec: {} }) },
    /not bound to a pod/,
  ],
]
for (const [name, tried, refusal] of nodeWrites) {
  test(`a node writes ${name}: ${refusal ? 'no' : 'yes'}`, async () => {
    const objects = shop()
      .put(wellKnown.nodes, { metadata: { name: 'n1', uid: 'uid-n1' } })
      .put(
        wellKnown.pods,
        inShop('mine', { spec: { nodeName: 'n1', containers: [], volumes: tokenVolumes } }),
      )
      .put(wellKnown.pods, inShop('theirs', { spec: { nodeName: 'n2', containers: [] } }))
    const done = attempt(objects, { ...tried, as: node })
    if (refusal) await assert.rejects(done, refusal)
    else await done
  })
}

test('a node asks for certificates in its own name only', async () => {
  const { privateKeyPem } = await generateKeyPair()
  const ask = async (commonName: string, signer: string, organization: string, as = jane) => {
    const pem = createSigningRequest({
      subject: { commonName, organizations: [organization] },
      privateKeyPem,
    })
    const spec = {
      request: Buffer.from(pem).toString('base64'),
      signerName: `kubernetes.io/${signer}`,
    }
    const target = 'certificates.k8s.io/certificatesigningrequests'
    return attempt(shop(), { target, object: { metadata: { name: 'csr' }, spec }, as })
  }
  await ask('system:node:n1', 'kubelet-serving', 'system:nodes', node)
  await assert.rejects(
    ask('system:node:n2', 'kubelet-serving', 'system:nodes', node),
    /CN=system:node:n1/,
  )
  await assert.rejects(
    ask('jane', 'kube-apiserver-client', 'system:masters'),
    /system:masters group is not allowed/,
  )
})

test('approving and signing need the right to that signer, by name or by domain', async () => {
  const rule = (verb: string, name: string) => ({
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [name],
    verbs: [verb],
  })
  const objects = shop()
    .put(wellKnown.clusterRoles, {
      metadata: { name: 'approver' },
      rules: [rule('approve', 'kubernetes.io/*')],
    })
    .put(wellKnown.clusterRoleBindings, {
      metadata: { name: 'approver' },
      roleRef: { kind: 'ClusterRole', name: 'approver' },
      subjects: [{ kind: 'User', name: 'jane' }],
    })
  const old = { metadata: { name: 'csr' }, spec: { signerName: 'kubernetes.io/kubelet-serving' } }
  const write = (subresource: string, signerName = 'kubernetes.io/kubelet-serving') =>
    attempt(objects, {
      operation: 'UPDATE',
      target: `certificates.k8s.io/certificatesigningrequests:${subresource}`,
      object: { ...old, status: { certificate: 'x' } },
      old: { ...old, spec: { signerName } },
    })
  await write('approval')
  await assert.rejects(
    write('approval', 'example.com/own'),
    /user not permitted to approve requests with signerName "example.com\/own"/,
  )
  await assert.rejects(write('status'), /user not permitted to sign/)
})

test('claims and ingresses get the newest default class, and the finalizer that protects them', async () => {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  const objects = shop()
    .put(wellKnown.storageClasses, {
      metadata: { name: 'old', annotations: isDefault, creationTimestamp: '2025-01-01T00:00:00Z' },
    })
    .put(wellKnown.storageClasses, {
      metadata: { name: 'new', annotations: isDefault, creationTimestamp: '2026-01-01T00:00:00Z' },
    })
    .put(wellKnown.ingressClasses, {
      metadata: {
        name: 'web',
        annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
      },
    })
  const claim = await attempt(objects, {
    target: 'persistentvolumeclaims',
    object: inShop('data', { spec: {} }),
  })
  assert.deepEqual(claim.spec, { storageClassName: 'new' })
  assert.deepEqual(claim.metadata.finalizers, ['kubernetes.io/pvc-protection'])
  const none = await attempt(objects, {
    target: 'persistentvolumeclaims',
    object: inShop('data', { spec: { storageClassName: '' } }),
  })
  assert.deepEqual(none.spec, { storageClassName: '' })
  const ingress = await attempt(objects, {
    target: 'networking.k8s.io/ingresses',
    object: inShop('i', { spec: {} }),
  })
  assert.deepEqual(ingress.spec, { ingressClassName: 'web' })
})

test('a claim grows only when bound and its class allows it', async () => {
  const objects = shop().put(wellKnown.storageClasses, {
    metadata: { name: 'grows' },
    allowVolumeExpansion: true,
  })
  const claim = (storage: string, storageClassName: string, phase = 'Bound') =>
    inShop('data', {
      spec: { storageClassName, resources: { requests: { storage } } },
      status: { phase },
    })
  const grow = (storageClassName: string, phase = 'Bound') =>
    attempt(objects, {
      operation: 'UPDATE',
      target: 'persistentvolumeclaims',
      object: claim('2Gi', storageClassName, phase),
      old: claim('1Gi', storageClassName, phase),
    })
  await grow('grows')
  await assert.rejects(grow('fixed'), /only dynamically provisioned pvc can be resized/)
  await assert.rejects(grow('grows', 'Pending'), /Only bound persistent volume claims/)
})

test('a runtime class brings overhead and placement; a made-up overhead is refused', async () => {
  const objects = shop().put(wellKnown.runtimeClasses, {
    metadata: { name: 'vm' },
    overhead: { podFixed: { memory: '64Mi' } },
    scheduling: { nodeSelector: { vm: 'yes' } },
  })
  const pod = await attempt(objects, {
    target: 'pods',
    object: podWith({ runtimeClassName: 'vm' }),
  })
  const { overhead, nodeSelector } = pod.spec as Record<string, unknown>
  assert.deepEqual([overhead, nodeSelector], [{ memory: '64Mi' }, { vm: 'yes' }])
  await assert.rejects(
    attempt(objects, { target: 'pods', object: podWith({ overhead: { cpu: '1' } }) }),
    /without corresponding RuntimeClass/,
  )
  await assert.rejects(
    attempt(objects, { target: 'pods', object: podWith({ runtimeClassName: 'gone' }) }),
    /RuntimeClass "gone" not found/,
  )
})

test('a new node starts with the not-ready taint', async () => {
  const made = await attempt(shop(), { target: 'nodes', object: nodeObject('n1') })
  assert.deepEqual(made.spec, {
    taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
  })
})

const enforce = (level: string) => ({ 'pod-security.kubernetes.io/enforce': level })
const careful = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'a',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
}
const securityCases: [level: string, spec: object, refusal?: string][] = [
  [
    'privileged',
    { hostNetwork: true, containers: [{ name: 'a', securityContext: { privileged: true } }] },
  ],
  ['baseline', {}],
  [
    'baseline',
    { hostNetwork: true, hostPID: true },
    'host namespaces (hostNetwork=true, hostPID=true)',
  ],
  [
    'baseline',
    { containers: [{ name: 'a', securityContext: { privileged: true } }] },
    'privileged (container "a" must not set securityContext.privileged=true)',
  ],
  [
    'baseline',
    { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    'hostPath volumes (volume "v")',
  ],
  [
    'baseline',
    { containers: [{ name: 'a', ports: [{ containerPort: 80, hostPort: 80 }] }] },
    'hostPort (container "a" uses hostPort 80)',
  ],
  [
    'baseline',
    {
      containers: [
        { name: 'a', securityContext: { capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } } },
      ],
    },
    'non-default capabilities (container "a" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
  ],
  ['restricted', careful],
  [
    'restricted',
    {},
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'restricted',
    { ...careful, volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    'restricted volume types (volume "v" uses restricted volume type "hostPath")',
  ],
]
test('pods are held to the level of their namespace, in the words of the standard', async () => {
  for (const [level, spec, refusal] of securityCases) {
    const done = attempt(shop(enforce(level)), { target: 'pods', object: podWith(spec) })
    if (refusal === undefined) await done
    else {
      await assert.rejects(done, {
        code: 403,
        message: `pods "web" is forbidden: violates PodSecurity "${level}:latest": ${refusal}`,
      })
    }
  }
})

test('a template that makes such pods is admitted with a warning', async () => {
  const warnings: string[] = []
  const template = { spec: { containers: [{ name: 'a' }], hostPID: true } }
  const objects = shop({ ...enforce('baseline'), 'pod-security.kubernetes.io/warn': 'baseline' })
  await attempt(objects, {
    target: 'apps/deployments',
    object: inShop('d', { spec: { template } }),
    warnings,
  })
  assert.deepEqual(warnings, [
    'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
  ])
})

const quota = (hard: object, used: object, spec: object = {}) =>
  inShop('q', { spec: { hard, ...spec }, status: { hard, used } })
const usedOf = (objects: ObjectTable) =>
  getTyped<ResourceQuota>(objects, wellKnown.resourceQuotas, { namespace: 'shop', name: 'q' })
    ?.status?.used

test('a quota is charged as objects come, and refuses objects that it cannot hold', async () => {
  const hard = { pods: '2', 'requests.cpu': '1', 'count/configmaps': '1', configmaps: '1' }
  const objects = shop().put(
    wellKnown.resourceQuotas,
    quota(hard, { pods: '0', 'requests.cpu': '0', 'count/configmaps': '0', configmaps: '0' }),
  )
  const withCpu = (cpu: string) =>
    podWith({ containers: [{ name: 'a', resources: { requests: { cpu } } }] })
  await assert.rejects(attempt(objects, { target: 'pods', object: podWith() }), {
    message: 'pods "web" is forbidden: failed quota: q: must specify requests.cpu for: a',
  })
  await attempt(objects, { target: 'pods', object: withCpu('600m') })
  assert.deepEqual(usedOf(objects), {
    ...hard,
    pods: '1',
    'requests.cpu': '600m',
    'count/configmaps': '0',
    configmaps: '0',
  })
  await assert.rejects(attempt(objects, { target: 'pods', object: withCpu('500m') }), {
    code: 403,
    message:
      'pods "web" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  })
  await attempt(objects, { target: 'configmaps', object: inShop('c') })
  await assert.rejects(
    attempt(objects, { target: 'configmaps', object: inShop('d') }),
    /exceeded quota: q, requested: configmaps=1,count\/configmaps=1/,
  )
})

test('a quota that nobody has counted yet refuses, one of another scope does not', async () => {
  const fresh = shop().put(wellKnown.resourceQuotas, quota({ pods: '5' }, {}))
  await assert.rejects(
    attempt(fresh, { target: 'pods', object: podWith() }),
    /status unknown for quota: q, resources: pods/,
  )
  const scoped = shop().put(
    wellKnown.resourceQuotas,
    quota({ pods: '0' }, { pods: '0' }, { scopes: ['Terminating'] }),
  )
  await attempt(scoped, { target: 'pods', object: podWith() })
  await assert.rejects(
    attempt(scoped, { target: 'pods', object: podWith({ activeDeadlineSeconds: 5 }) }),
    /exceeded quota/,
  )
})

test('an update is charged for the usage that it adds', async () => {
  const objects = shop().put(
    wellKnown.resourceQuotas,
    quota({ 'requests.storage': '5Gi' }, { 'requests.storage': '2Gi' }),
  )
  objects.put(wellKnown.storageClasses, { metadata: { name: 'grows' }, allowVolumeExpansion: true })
  const claim = (storage: string) =>
    inShop('data', {
      spec: { storageClassName: 'grows', resources: { requests: { storage } } },
      status: { phase: 'Bound' },
    })
  const grow = (to: string) =>
    attempt(objects, {
      operation: 'UPDATE',
      target: 'persistentvolumeclaims',
      object: claim(to),
      old: claim('2Gi'),
    })
  await grow('4Gi')
  assert.deepEqual(usedOf(objects), { 'requests.storage': '4Gi' })
  await assert.rejects(
    grow('4Gi'),
    /requested: requests.storage=2Gi, used: requests.storage=4Gi, limited: requests.storage=5Gi/,
  )
})

test('a part of a pod is written without touching containers that already run', async () => {
  const write = (subresource: string, next: object, old: object) =>
    attempt(shop(), {
      operation: 'UPDATE',
      target: `pods:${subresource}`,
      object: podWith({ serviceAccountName: 'default', ...next }),
      old: podWith({ serviceAccountName: 'default', ...old }),
    })
  const debug = (...names: string[]) => ({ ephemeralContainers: names.map((name) => ({ name })) })
  await write('ephemeralcontainers', debug('a', 'b'), debug('a'))
  await assert.rejects(write('ephemeralcontainers', debug('b'), debug('a')), {
    code: 422,
    message:
      'Pod "web" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "a" may not be removed\n',
  })
  const sized = (requests: object) => ({ containers: [{ name: 'a', resources: { requests } }] })
  await write('resize', sized({ cpu: '2' }), sized({ cpu: '1' }))
  await assert.rejects(
    write('resize', sized({ 'example.com/gpu': '2' }), sized({ 'example.com/gpu': '1' })),
    /only cpu and memory resources are mutable/,
  )
})
