import type { RawClient } from '../../processes/raw-client.ts'

const objectCount = 2_000
const objectBytes = 5_000

/**
 * Creates four attackers with rights in their namespace, and the objects that they attack with. Returns the
 * attackers' tokens.
 */
export async function prepareAttack(client: RawClient): Promise<string[]> {
  const create = async (path: string, object: object): Promise<void> => {
    const { status, body } = await client.send('POST', path, object)
    if (status !== 201) throw new Error(`Cannot prepare ${path}: ${status} ${body.toString()}`)
  }
  for (const name of ['attack', 'honest']) {
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const group = 'hostile.example.com'
  for (const [plural, kind] of [
    ['opens', 'Open'],
    ['rows', 'Row'],
  ] as const) {
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: [version(kind)] },
    })
  }
  await create('/apis/rbac.authorization.k8s.io/v1/namespaces/attack/roles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'attack' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  })
  const tokens: string[] = []
  for (const name of ['mallory', 'marvin', 'mallet', 'trudy']) {
    await create('/api/v1/namespaces/attack/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name },
    })
    await create('/apis/rbac.authorization.k8s.io/v1/namespaces/attack/rolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'attack' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'attack', name }],
    })
    tokens.push(await tokenOf(client, name))
  }
  await createObjects(client, create)
  return tokens
}

async function tokenOf(client: RawClient, name: string): Promise<string> {
  const path = `/api/v1/namespaces/attack/serviceaccounts/${name}/token`
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { body } = await client.send('POST', path, request)
  // The API's own answer.
  const answer = JSON.parse(body.toString()) as { status: { token: string } }
  return answer.status.token
}

function version(kind: string): object {
  const item = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, v: { type: 'integer' } },
  }
  const spec =
    kind === 'Row'
      ? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
      : {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: {
            keyed: {
              type: 'array',
              items: item,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
            },
            set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            map: { type: 'object', additionalProperties: { type: 'string' } },
            // The most expensive rule that is admitted: a million comparisons.
            checked: {
              type: 'array',
              maxItems: 1_000,
              items: { type: 'string', maxLength: 8 },
              'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists_one(y, y == x))' }],
            },
          },
        }
  const columns = Array.from({ length: 8 }, (_, at) => ({
    name: `c${at}`,
    type: 'string',
    jsonPath: `.spec.items[${at}].name`,
  }))
  return {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    ...(kind === 'Row' ? { additionalPrinterColumns: columns } : {}),
  }
}

async function createObjects(
  client: RawClient,
  create: (path: string, object: object) => Promise<void>,
): Promise<void> {
  const base = '/apis/hostile.example.com/v1/namespaces/attack'
  for (
    let tries = 0;
    (await client.get(`${base}/rows`)).status !== 200 && tries < 100;
    tries += 1
  ) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const list = <T>(count: number, item: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => item(at))
  await create(`${base}/opens`, {
    apiVersion: 'hostile.example.com/v1',
    kind: 'Open',
    metadata: { name: 'kept' },
    spec: {
      items: list(10_000, (at) => ({ name: `a${at}` })),
      keyed: list(10_000, (at) => ({ name: `n${at}` })),
      set: list(10_000, (at) => `n${at}`),
      map: Object.fromEntries(list(10_000, (at) => [`k${at}`, 'v'])),
    },
  })
  const env = list(8_000, (at) => ({ name: `E${at}`, value: 'v' }))
  const labels = { app: 'kept' }
  await create('/apis/apps/v1/namespaces/attack/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'kept' },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a', env }] } },
    },
  })
  const target = { type: 'AverageValue', averageValue: '1' }
  await create('/apis/autoscaling/v2/namespaces/attack/horizontalpodautoscalers', {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'kept' },
    spec: {
      maxReplicas: 1,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kept' },
      metrics: list(2_000, (at) => ({
        type: 'Pods',
        pods: { metric: { name: `m${at}` }, target },
      })),
    },
  })
  const names = list(objectCount, (at) => `o${at}`)
  const writer = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const metadata = { name }
      const data = { a: 'a'.repeat(objectBytes) }
      await create('/api/v1/namespaces/attack/configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        data,
      })
      const items = list(8, (at) => ({ name: `${name}-${at}` }))
      const row = { apiVersion: 'hostile.example.com/v1', kind: 'Row', metadata, spec: { items } }
      await create(`${base}/rows`, row)
    }
  }
  await Promise.all(list(8, writer))
}
