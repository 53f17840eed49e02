import { plainDefinition } from '@skerry/testing'

/** A request; `$` in it is the run's own name, so that runs do not meet. */
export interface Step {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
}

/**
 * A request of a user, the steps of administrators before it, and the questions that the authorizer is asked
 * because of it.
 */
export interface Effect extends Step {
  readonly name: string
  readonly before?: readonly Step[]
  /** Whether the user authenticates with a token and impersonates the user of the headers. */
  readonly isImpersonating?: boolean
}

const core = '/api/v1/namespaces/e'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const certificates = '/apis/certificates.k8s.io/v1'
const policies = '/apis/admissionregistration.k8s.io/v1'
const authorization = '/apis/authorization.k8s.io/v1'

const json = (body: unknown, type = 'application/json') => ({
  headers: { 'content-type': type },
  body,
})
const applied = 'application/apply-patch+yaml'
const merged = 'application/merge-patch+json'
const post = (path: string, body: unknown): Step => ({ method: 'POST', path, ...json(body) })

function object(apiVersion: string, kind: string, rest: Record<string, unknown> = {}) {
  return { apiVersion, kind, metadata: { name: '$' }, ...rest }
}

const configMap = object('v1', 'ConfigMap')
const definition = plainDefinition({
  group: '$.example.com',
  plural: 'others',
  kind: 'Other',
  scope: 'Cluster',
})
const pod = object('v1', 'Pod', { spec: { containers: [{ name: 'c', image: 'i' }] } })
const rbacGroup = 'rbac.authorization.k8s.io'
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'view' }
const subjects = [{ apiGroup: rbacGroup, kind: 'User', name: 'jane' }]
const role = object(`${rbacGroup}/v1`, 'Role', { rules })
const clusterRole = object(`${rbacGroup}/v1`, 'ClusterRole', { rules })
const roleBinding = object(`${rbacGroup}/v1`, 'RoleBinding', { roleRef, subjects })
const clusterRoleBinding = object(`${rbacGroup}/v1`, 'ClusterRoleBinding', { roleRef, subjects })
const deployment = object('apps/v1', 'Deployment', {
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  },
})

/** The objects that an administrator creates once, before everything else. */
export const world: readonly Step[] = [
  post('/api/v1/namespaces', object('v1', 'Namespace', { metadata: { name: 'e' } })),
  post(
    `${core}/serviceaccounts`,
    object('v1', 'ServiceAccount', { metadata: { name: 'default' } }),
  ),
  post(`${core}/configmaps`, object('v1', 'ConfigMap', { metadata: { name: 'kept' } })),
  post(`${core}/pods`, { ...pod, metadata: { name: 'unbound' } }),
  post('/api/v1/nodes', object('v1', 'Node', { metadata: { name: 'n' } })),
  post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.e.example.com' },
    spec: {
      group: 'e.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' },
          },
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  }),
]

const things = '/apis/e.example.com/v1/namespaces/e/things'
const thing = object('e.example.com/v1', 'Thing', { spec: { n: 1 } })

/** The path that an administrator requests until it is served. */
export const servedPath = things

const upgrades: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plain: {},
  websocket: {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  },
  spdy: {
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': 'v5.channel.k8s.io',
  },
}

const createsAndChanges: readonly Effect[] = [
  { name: 'create', ...post(`${core}/configmaps`, configMap) },
  {
    name: 'create with a field selector',
    ...post(`${core}/configmaps?fieldSelector=metadata.name%3Dkept`, configMap),
  },
  {
    name: 'PUT of what is not there',
    method: 'PUT',
    path: `${core}/configmaps/$`,
    ...json(configMap),
  },
  {
    name: 'PUT of what is there',
    before: [post(`${core}/configmaps`, configMap)],
    method: 'PUT',
    path: `${core}/configmaps/$`,
    ...json(configMap),
  },
  ...puts(),
  {
    name: 'apply that creates',
    method: 'PATCH',
    path: `${core}/configmaps/$?fieldManager=m`,
    ...json(configMap, applied),
  },
  {
    name: 'apply that creates, dry run',
    method: 'PATCH',
    path: `${core}/configmaps/$?fieldManager=m&dryRun=All&force=true`,
    ...json(configMap, applied),
  },
  {
    name: 'apply that changes',
    before: [post(`${core}/configmaps`, configMap)],
    method: 'PATCH',
    path: `${core}/configmaps/$?fieldManager=m`,
    ...json(configMap, applied),
  },
  {
    name: 'apply of an invalid object',
    method: 'PATCH',
    path: `${core}/configmaps/A_$?fieldManager=m`,
    ...json({ ...configMap, metadata: { name: 'A_$' } }, applied),
  },
  {
    name: 'apply to a status that is not there',
    method: 'PATCH',
    path: `/apis/apps/v1/namespaces/e/deployments/$/status?fieldManager=m`,
    ...json(deployment, applied),
  },
  {
    name: 'apply that creates a custom object',
    method: 'PATCH',
    path: `${things}/$?fieldManager=m`,
    ...json(thing, applied),
  },
  {
    name: 'PUT of a custom object that is not there',
    method: 'PUT',
    path: `${things}/$`,
    ...json(thing),
  },
  {
    name: 'merge patch of what is not there',
    method: 'PATCH',
    path: `${core}/configmaps/$`,
    ...json({ data: {} }, merged),
  },
  {
    name: 'create with an owner that it blocks',
    ...post(`${core}/configmaps`, {
      ...configMap,
      metadata: { name: '$', ownerReferences: [owner(true)], finalizers: ['example.com/f'] },
    }),
  },
  {
    name: 'patch of owners and finalizers',
    before: [post(`${core}/configmaps`, configMap)],
    method: 'PATCH',
    path: `${core}/configmaps/$`,
    ...json(
      { metadata: { ownerReferences: [owner(true)], finalizers: ['example.com/f'] } },
      merged,
    ),
  },
  {
    name: 'create of a definition',
    ...post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
  },
  {
    name: 'create of a webhook',
    ...post(
      `${policies}/validatingwebhookconfigurations`,
      object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'),
    ),
  },
]

/** Returns PUTs of kinds that a PUT creates, and of some that it does not. */
function puts(): Effect[] {
  const kinds: readonly [path: string, body: Record<string, unknown>][] = [
    ['/apis/coordination.k8s.io/v1/namespaces/e/leases', object('coordination.k8s.io/v1', 'Lease')],
    [`${core}/endpoints`, object('v1', 'Endpoints')],
    [`${core}/limitranges`, object('v1', 'LimitRange', { spec: { limits: [] } })],
    [`${core}/services`, object('v1', 'Service', { spec: { ports: [{ port: 80 }] } })],
    [`${core}/secrets`, object('v1', 'Secret')],
    [`${core}/serviceaccounts`, object('v1', 'ServiceAccount')],
    [
      `${core}/events`,
      object('v1', 'Event', {
        metadata: { name: '$', namespace: 'e' },
        involvedObject: { namespace: 'e' },
      }),
    ],
    [`${rbac}/namespaces/e/roles`, role],
    [`${rbac}/namespaces/e/rolebindings`, roleBinding],
    [`${rbac}/clusterroles`, clusterRole],
    [`${rbac}/clusterrolebindings`, clusterRoleBinding],
    [
      '/apis/node.k8s.io/v1/runtimeclasses',
      object('node.k8s.io/v1', 'RuntimeClass', { handler: 'h' }),
    ],
    ['/apis/apps/v1/namespaces/e/deployments', deployment],
    [
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      object('scheduling.k8s.io/v1', 'PriorityClass', { value: 1 }),
    ],
  ]
  return kinds.flatMap(([path, body]) => [
    {
      name: `PUT of a new ${String(body['kind'])}`,
      method: 'PUT',
      path: `${path}/$`,
      ...json(body),
    },
    {
      name: `apply of a new ${String(body['kind'])}`,
      method: 'PATCH',
      path: `${path}/$?fieldManager=m`,
      ...json(body, applied),
    },
  ])
}

function owner(blockOwnerDeletion: boolean) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'kept',
    uid: 'u',
    blockOwnerDeletion,
    controller: true,
  }
}

const sessions: readonly Effect[] = Object.entries(upgrades).flatMap(([way, headers]) => {
  const methods =
    way === 'spdy'
      ? ['POST', 'GET']
      : way === 'websocket'
        ? ['GET']
        : ['GET', 'POST', 'HEAD', 'PUT']
  const paths = [
    'exec?command=id&stdout=1',
    'attach?stdout=1',
    'portforward?ports=80',
    'proxy/',
    'log?follow=true',
  ]
  return methods.flatMap((method) =>
    ['unbound', 'absent'].flatMap((name) =>
      paths.map((path) => ({
        name: `${method} ${path.split(/[/?]/)[0] ?? ''} of a pod that is ${name}, ${way}`,
        method,
        path: `${core}/pods/${name}/${path}`,
        headers,
      })),
    ),
  )
})

const subresources: readonly Effect[] = [
  ...['PUT', 'PATCH', 'GET'].map((method) => ({
    name: `${method} of a scale`,
    before: [post('/apis/apps/v1/namespaces/e/deployments', deployment)],
    method,
    path: '/apis/apps/v1/namespaces/e/deployments/$/scale',
    ...(method === 'GET'
      ? {}
      : json(
          object('autoscaling/v1', 'Scale', { spec: { replicas: 2 } }),
          method === 'PATCH' ? merged : undefined,
        )),
  })),
  {
    name: 'PUT of a status',
    before: [post('/apis/apps/v1/namespaces/e/deployments', deployment)],
    method: 'PUT',
    path: '/apis/apps/v1/namespaces/e/deployments/$/status',
    ...json(deployment),
  },
  {
    name: 'patch of ephemeral containers',
    before: [post(`${core}/pods`, pod)],
    method: 'PATCH',
    path: `${core}/pods/$/ephemeralcontainers`,
    ...json(
      {
        spec: {
          ephemeralContainers: [
            { name: 'x', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' },
          ],
        },
      },
      merged,
    ),
  },
  {
    name: 'binding of a pod',
    before: [post(`${core}/pods`, pod)],
    ...post(
      `${core}/pods/$/binding`,
      object('v1', 'Binding', { target: { kind: 'Node', name: 'n' } }),
    ),
  },
  {
    name: 'binding by the older way',
    before: [post(`${core}/pods`, pod)],
    ...post(`${core}/bindings`, object('v1', 'Binding', { target: { kind: 'Node', name: 'n' } })),
  },
  {
    name: 'eviction of a pod',
    before: [post(`${core}/pods`, pod)],
    ...post(`${core}/pods/$/eviction`, object('policy/v1', 'Eviction')),
  },
  {
    name: 'token of a service account',
    ...post(
      `${core}/serviceaccounts/default/token`,
      object('authentication.k8s.io/v1', 'TokenRequest', { metadata: {}, spec: {} }),
    ),
  },
  {
    name: 'token bound to a pod',
    ...post(
      `${core}/serviceaccounts/default/token`,
      object('authentication.k8s.io/v1', 'TokenRequest', {
        metadata: {},
        spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'unbound' } },
      }),
    ),
  },
  {
    name: 'finalizers of a namespace',
    before: [post('/api/v1/namespaces', object('v1', 'Namespace'))],
    method: 'PUT',
    path: '/api/v1/namespaces/$/finalize',
    ...json(object('v1', 'Namespace', { spec: { finalizers: [] } })),
  },
  {
    name: 'deletion of many',
    before: [
      post(
        `${core}/secrets`,
        object('v1', 'Secret', { metadata: { name: '$', labels: { run: '$' } } }),
      ),
    ],
    method: 'DELETE',
    path: `${core}/secrets?labelSelector=run%3D$`,
  },
  {
    name: 'deletion of many by name',
    method: 'DELETE',
    path: `${core}/secrets?fieldSelector=metadata.name%3D$`,
  },
  {
    name: 'deletion of what cannot be read',
    before: [post(`${core}/secrets`, object('v1', 'Secret'))],
    method: 'DELETE',
    path: `${core}/secrets/$`,
    ...json({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ignoreStoreReadErrorWithClusterBreakingPotential: true,
    }),
  },
]

const escalations: readonly Effect[] = [
  { name: 'create of a Role', ...post(`${rbac}/namespaces/e/roles`, role) },
  { name: 'create of a ClusterRole', ...post(`${rbac}/clusterroles`, clusterRole) },
  {
    name: 'create of an aggregated ClusterRole',
    ...post(`${rbac}/clusterroles`, {
      ...clusterRole,
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    }),
  },
  { name: 'create of a RoleBinding', ...post(`${rbac}/namespaces/e/rolebindings`, roleBinding) },
  {
    name: 'create of a ClusterRoleBinding',
    ...post(`${rbac}/clusterrolebindings`, clusterRoleBinding),
  },
  {
    name: 'create of a RoleBinding of a Role',
    before: [post(`${rbac}/namespaces/e/roles`, role)],
    ...post(`${rbac}/namespaces/e/rolebindings`, {
      ...roleBinding,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: '$' },
    }),
  },
  {
    name: 'patch of a Role',
    before: [post(`${rbac}/namespaces/e/roles`, role)],
    method: 'PATCH',
    path: `${rbac}/namespaces/e/roles/$`,
    ...json({ rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] }, merged),
  },
  {
    name: 'patch of the labels of a Role',
    before: [post(`${rbac}/namespaces/e/roles`, role)],
    method: 'PATCH',
    path: `${rbac}/namespaces/e/roles/$`,
    ...json({ metadata: { labels: { a: 'b' } } }, merged),
  },
  {
    name: 'patch of the subjects of a RoleBinding',
    before: [post(`${rbac}/namespaces/e/rolebindings`, roleBinding)],
    method: 'PATCH',
    path: `${rbac}/namespaces/e/rolebindings/$`,
    ...json({ subjects: [{ apiGroup: rbacGroup, kind: 'User', name: 'joe' }] }, merged),
  },
]

/** A request for the name `any`, which no user has. */
const signingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IQUNBUUF3RGpFTU1Bb0dBMVVFQXd3RFlXNTVNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRApRZ0FFM205RGNMajVZN2ZJUml2aHBMVnNrbExmL3Jvd3dhMldJNGpHYWhhSjRlMjVvVWI3MEowMGI2K2VvdGZQCktwbDZ4YzNHeGszVVZzWWs3UUdXbW8yZXdxQUFNQW9HQ0NxR1NNNDlCQU1DQTBnQU1FVUNJQm15VDB0VG9VWVAKejdkWkJWdExRN2lSclFCTG5LMG83bnpsWjBlMHBRQUVBaUVBcG5mRnJKY2Q5TVdlS2dENzZHWDhINFFXSEVsLwp0UXRaY3Fkc0wya1QwdUk9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo='
const csr = object('certificates.k8s.io/v1', 'CertificateSigningRequest', {
  spec: {
    signerName: 'example.com/$',
    usages: ['client auth'],
    request: signingRequest,
  },
})
const signingRequests = `${certificates}/certificatesigningrequests`
const decided = (type: string) => ({
  status: { conditions: [{ type, status: 'True', reason: 'r', message: 'm' }] },
})
/** A step at a subresource of a signing request that an administrator has made. */
const afterSigningRequest = (name: string, method: string, subresource: string) => ({
  name,
  before: [post(signingRequests, csr)],
  method,
  path: `${signingRequests}/$/${subresource}`,
})
const signers: readonly Effect[] = [
  {
    ...afterSigningRequest('approval of a signing request', 'PUT', 'approval'),
    ...json({ ...csr, ...decided('Approved') }),
  },
  {
    ...afterSigningRequest('patch of an approval', 'PATCH', 'approval'),
    ...json(decided('Denied'), merged),
  },
  {
    ...afterSigningRequest('a failure written into a signing request', 'PUT', 'status'),
    ...json({ ...csr, ...decided('Failed') }),
  },
  { name: 'create of a signing request', ...post(signingRequests, csr) },
]

const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles'
/** The certificate of an authority whose key was not kept. */
const trustBundle =
  '-----BEGIN CERTIFICATE-----\nMIIBNjCB6aADAgECAhQ5u8EroEadeCNZgWfgKZpWZHWjFzAFBgMrZXAwEDEOMAwG\nA1UEAwwFdHJ1c3QwIBcNMjYxMTIxMDU1NTQ2WhgPMjEyNjEwMjgwNTU1NDZaMBAx\nDjAMBgNVBAMMBXRydXN0MCowBQYDK2VwAyEAtWQPp3iMlt+zBwj2OwqBjoVjSSVt\nRFAzcn3YN57xGU+jUzBRMB0GA1UdDgQWBBQhx8M3iX5p6owgGv7q8MXRlW8pGjAf\nBgNVHSMEGDAWgBQhx8M3iX5p6owgGv7q8MXRlW8pGjAPBgNVHRMBAf8EBTADAQH/\nMAUGAytlcANBADBYYkBQZ1r2/ePgEFiSeNHX7++qICvje+JJ7g5sMdth+PwgiJaw\n171rWNXIPIsiFQxZnNSBxRtW+2z9MAxrUAQ=\n-----END CERTIFICATE-----\n'
const bundle = (spec: object) => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  metadata: { name: 'example.com:$:b' },
  spec: { signerName: 'example.com/$', trustBundle, ...spec },
})

const attestation: readonly Effect[] = [
  { name: 'attestation for a signer', ...post(bundles, bundle({})) },
  {
    name: 'attestation by an apply that creates',
    method: 'PATCH',
    path: `${bundles}/example.com:$:b?fieldManager=m`,
    ...json(bundle({}), applied),
  },
  {
    name: 'change of an attestation',
    before: [post(bundles, bundle({}))],
    method: 'PATCH',
    path: `${bundles}/example.com:$:b`,
    ...json({ metadata: { labels: { a: 'b' } } }, merged),
  },
  {
    name: 'attestation for nobody',
    ...post(bundles, { ...bundle({}), metadata: { name: '$' }, spec: { trustBundle } }),
  },
]

const parameters = { apiVersion: 'v1', kind: 'ConfigMap' }
const policySpec = {
  paramKind: parameters,
  matchConstraints: {
    resourceRules: [
      { apiGroups: ['example.org'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] },
    ],
  },
  validations: [{ expression: 'true' }],
}
const policy = object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', {
  spec: policySpec,
})
const mutation = object('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', {
  spec: {
    ...policySpec,
    validations: undefined,
    reinvocationPolicy: 'Never',
    mutations: [
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } },
    ],
  },
})
const bindingSpec = (paramRef: object) => ({
  policyName: '$',
  validationActions: ['Deny'],
  paramRef: { parameterNotFoundAction: 'Deny', ...paramRef },
})
const policyBinding = (paramRef: object) =>
  object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', {
    spec: bindingSpec(paramRef),
  })
const mutationBinding = (paramRef: object) =>
  object('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', {
    spec: { ...bindingSpec(paramRef), validationActions: undefined },
  })
const asks = { name: 'kept', namespace: 'e' }
const selects = { selector: { matchLabels: { a: 'b' } } }
const unknownKind = {
  ...policySpec,
  paramKind: { apiVersion: 'none.example.com/v1', kind: 'None' },
}

const admission: readonly Effect[] = [
  { name: 'policy with parameters', ...post(`${policies}/validatingadmissionpolicies`, policy) },
  {
    name: 'policy with parameters of a kind that is not there',
    ...post(`${policies}/validatingadmissionpolicies`, { ...policy, spec: unknownKind }),
  },
  {
    name: 'policy without parameters',
    ...post(`${policies}/validatingadmissionpolicies`, {
      ...policy,
      spec: { ...policySpec, paramKind: undefined },
    }),
  },
  {
    name: 'patch that leaves the parameters of a policy',
    before: [post(`${policies}/validatingadmissionpolicies`, policy)],
    method: 'PATCH',
    path: `${policies}/validatingadmissionpolicies/$`,
    ...json({ metadata: { labels: { a: 'b' } } }, merged),
  },
  {
    name: 'patch of the parameters of a policy',
    before: [post(`${policies}/validatingadmissionpolicies`, policy)],
    method: 'PATCH',
    path: `${policies}/validatingadmissionpolicies/$`,
    ...json({ spec: { paramKind: { apiVersion: 'v1', kind: 'Secret' } } }, merged),
  },
  ...(
    [
      ['by name', asks],
      ['by name, of any namespace', { name: 'kept' }],
      ['by selector', selects],
      ['by selector in a namespace', { ...selects, namespace: 'e' }],
    ] as const
  ).flatMap(([how, paramRef]) => [
    {
      name: `binding of a policy to parameters ${how}`,
      before: [post(`${policies}/validatingadmissionpolicies`, policy)],
      ...post(`${policies}/validatingadmissionpolicybindings`, policyBinding(paramRef)),
    },
    {
      name: `binding of a mutating policy to parameters ${how}`,
      before: [post(`${policies}/mutatingadmissionpolicies`, mutation)],
      ...post(`${policies}/mutatingadmissionpolicybindings`, mutationBinding(paramRef)),
    },
  ]),
  {
    name: 'binding of a policy that is not there',
    ...post(`${policies}/validatingadmissionpolicybindings`, policyBinding(asks)),
  },
  {
    name: 'patch of what a binding refers to',
    before: [
      post(`${policies}/validatingadmissionpolicies`, policy),
      post(`${policies}/validatingadmissionpolicybindings`, policyBinding(asks)),
    ],
    method: 'PATCH',
    path: `${policies}/validatingadmissionpolicybindings/$`,
    ...json({ spec: { paramRef: { name: 'others' } } }, merged),
  },
  {
    name: 'mutating policy with parameters',
    ...post(`${policies}/mutatingadmissionpolicies`, mutation),
  },
]

const claims = '/apis/resource.k8s.io/v1/namespaces/e/resourceclaims'
const claim = object('resource.k8s.io/v1', 'ResourceClaim', {
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
})
const device = { driver: 'a.example', pool: 'p', device: 'd' }
const allocation = { devices: { results: [{ request: 'r', ...device }] } }
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const statuses: readonly Effect[] = [
  {
    name: 'allocation of a claim',
    before: [post(claims, claim)],
    method: 'PATCH',
    path: `${claims}/$/status`,
    ...json({ status: { allocation } }, merged),
  },
  {
    name: 'reservation of a claim',
    before: [
      post(claims, claim),
      {
        method: 'PATCH',
        path: `${claims}/$/status`,
        ...json({ status: { allocation } }, merged),
      },
    ],
    method: 'PATCH',
    path: `${claims}/$/status`,
    ...json({ status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } }, merged),
  },
  {
    name: 'state of a device',
    before: [
      post(claims, claim),
      {
        method: 'PATCH',
        path: `${claims}/$/status`,
        ...json({ status: { allocation } }, merged),
      },
    ],
    method: 'PATCH',
    path: `${claims}/$/status`,
    ...json({ status: { devices: [device] } }, merged),
  },
  {
    name: 'status of a definition',
    before: [post(definitions, definition)],
    method: 'PATCH',
    path: `${definitions}/others.$.example.com/status`,
    ...json({ metadata: { labels: { a: 'b' } } }, merged),
  },
  {
    name: 'status of a namespace',
    before: [post('/api/v1/namespaces', object('v1', 'Namespace'))],
    method: 'PATCH',
    path: '/api/v1/namespaces/$/status',
    ...json({ metadata: { labels: { a: 'b' } } }, merged),
  },
  {
    name: 'resize of a pod',
    before: [post(`${core}/pods`, pod)],
    method: 'PATCH',
    path: `${core}/pods/$/resize`,
    ...json({ spec: { containers: [{ name: 'c', image: 'i' }] } }, merged),
  },
]

const review = (kind: string, spec: object) =>
  object('authorization.k8s.io/v1', kind, { metadata: {}, spec })
const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'e', name: 'x' }

const reviews: readonly Effect[] = [
  {
    name: 'may I',
    ...post(
      `${authorization}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', { resourceAttributes }),
    ),
  },
  {
    name: 'may I, of a path',
    ...post(
      `${authorization}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', { nonResourceAttributes: { path: '/x', verb: 'get' } }),
    ),
  },
  {
    name: 'may I, with selectors',
    ...post(
      `${authorization}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', {
        resourceAttributes: {
          ...resourceAttributes,
          verb: 'list',
          fieldSelector: {
            requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }],
          },
          labelSelector: { requirements: [{ key: 'a', operator: 'Exists' }] },
        },
      }),
    ),
  },
  {
    name: 'may I, with selectors as text',
    ...post(
      `${authorization}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', {
        resourceAttributes: {
          ...resourceAttributes,
          verb: 'list',
          fieldSelector: { rawSelector: 'spec.nodeName=n,metadata.name=x' },
          labelSelector: { rawSelector: 'a in (b),!c' },
        },
      }),
    ),
  },
]

const as = (
  headers: Readonly<Record<string, string | readonly string[]>>,
  name: string,
): Effect => ({
  name: `acts as ${name}`,
  method: 'GET',
  path: `${core}/configmaps/kept`,
  headers,
  isImpersonating: true,
})
const user = { 'Impersonate-User': 'jane' }

const impersonation: readonly Effect[] = [
  as(user, 'a user'),
  as({ ...user, 'Impersonate-Group': 'g' }, 'a member of a group'),
  as({ ...user, 'Impersonate-Group': 'system:masters' }, 'an administrator'),
  as({ ...user, 'Impersonate-Uid': '7' }, 'a user with an uid'),
  as({ ...user, 'Impersonate-Extra-Scopes': 'view' }, 'a user with extra'),
  as({ ...user, 'Impersonate-Extra-Example.com%2fscope': 'view' }, 'a user with escaped extra'),
  as(
    {
      ...user,
      'Impersonate-Group': 'g',
      'Impersonate-Uid': '7',
      'Impersonate-Extra-Scopes': 'view',
    },
    'everything at once',
  ),
  as({ 'Impersonate-User': 'system:serviceaccount:e:default' }, 'a service account'),
  as(
    { 'Impersonate-User': 'system:serviceaccount:e:default', 'Impersonate-Group': 'g' },
    'a service account in a group',
  ),
  as({ 'Impersonate-User': 'system:node:n' }, 'a node'),
  as(
    { 'Impersonate-User': 'system:node:n', 'Impersonate-Group': 'system:nodes' },
    'a node in its group',
  ),
  as({ 'Impersonate-User': 'system:anonymous' }, 'nobody'),
  as({ 'Impersonate-Group': 'g' }, 'a group alone'),
  as({ ...user, 'Impersonate-Group': ['a', 'b', 'c', 'd'] }, 'a member of many groups'),
  as({ ...user, 'Impersonate-Group': ['a', 'system:unauthenticated'] }, 'an unauthenticated user'),
  as({ ...user, 'Impersonate-Extra-A.b%2fc': ['1', '2', '3', '4'] }, 'a user with many extras'),
  as({ ...user, 'Impersonate-Extra-A.b%2fc': ['1', '2'] }, 'a user with two extras'),
  as({ 'Impersonate-User': 'system:node:N_' }, 'a node of a wrong name'),
  as({ 'Impersonate-User': 'system:node:n', 'Impersonate-Uid': '7' }, 'a node with an uid'),
  as({ 'Impersonate-User': 'system:serviceaccount:e' }, 'a service account of a wrong name'),
  {
    ...as(user, 'a user who lists'),
    path: `${core}/configmaps?fieldSelector=metadata.name%3Dkept`,
  },
  { ...as(user, 'a user on a path'), path: '/version' },
]

/** The same object, or none, by odd spellings of a path. */
const spellings: readonly Effect[] = [
  'configmaps/kept/',
  'configmaps/kept%2f',
  'configmaps/kept%2F%2F',
  'configmaps%2Fkept',
  'configmaps/kep%74',
  'configmaps//kept',
  'configmaps/./kept',
  'configmaps/kept/..',
  'pods/unbound%2Flog',
  'pods//log',
  'pods/unbound//log',
  'pods/unbound/none',
].map((path) => ({ name: `spelling ${path}`, method: 'GET', path: `${core}/${path}` }))

const watches: readonly Effect[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
].flatMap((method) =>
  [
    '/api/v1/watch/namespaces/e/configmaps',
    '/api/v1/watch/namespaces/e/configmaps/kept',
    '/api/v1/watch/namespaces/e/pods/unbound/log',
    '/api/v1/watch/namespaces/e/pods/unbound/proxy',
    '/apis/e.example.com/v1/watch/namespaces/e/things',
    '/api/v1/proxy/namespaces/e/pods/unbound',
    '/apis//v1/secrets',
  ].map((path) => ({ name: `${method} ${path}`, method, path: `${path}?timeoutSeconds=1` })),
)

export const effects: readonly Effect[] = [
  ...createsAndChanges,
  ...sessions,
  ...subresources,
  ...escalations,
  ...signers,
  ...attestation,
  ...statuses,
  ...admission,
  ...reviews,
  ...impersonation,
  ...spellings,
  ...watches,
]
