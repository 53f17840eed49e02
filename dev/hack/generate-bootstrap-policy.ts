/**
 * Writes packages/apiserver/bootstrap-policy/generated/policy.json: what a fresh upstream API
 * server creates at its first start (roles, bindings, namespaces, priority classes), read from a
 * running one through kubectl. Facts only: server-set metadata is dropped.
 *
 *   node dev/hack/generate-bootstrap-policy.ts --kubectl kubectl --kubeconfig path/to/kubeconfig
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { parseArgs, promisify } from 'node:util'

interface UpstreamObject {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  [field: string]: unknown
}

/** The resources in the order of creation: namespaces before their objects, roles before bindings. */
const resources = [
  'namespaces',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'priorityclasses.scheduling.k8s.io',
]
const upstreamNamespaces = new Set(['default', 'kube-node-lease', 'kube-public', 'kube-system'])

const { values } = parseArgs({
  options: {
    kubectl: { type: 'string', default: 'kubectl' },
    kubeconfig: { type: 'string' },
  },
})
if (values.kubeconfig === undefined) throw new Error('Cannot read the policy: pass --kubeconfig')
const target = new URL(
  '../../packages/apiserver/bootstrap-policy/generated/policy.json',
  import.meta.url,
)
const objects: UpstreamObject[] = []
for (const resource of resources) objects.push(...(await readAll(resource, values.kubeconfig)))
await writeFile(target, `[\n${objects.map((object) => JSON.stringify(object)).join(',\n')}\n]\n`)
console.log(`Wrote ${objects.length} objects`)

async function readAll(resource: string, kubeconfig: string): Promise<UpstreamObject[]> {
  const { stdout } = await promisify(execFile)(
    values.kubectl,
    ['--kubeconfig', kubeconfig, 'get', resource, '-A', '-o', 'json'],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  // kubectl prints a v1 List; each item has at least the fields of UpstreamObject.
  const list = JSON.parse(stdout) as { items: UpstreamObject[] }
  return list.items
    .filter(isBootstrapObject)
    .map(withoutServerFields)
    .sort((a, b) => keyOf(a).localeCompare(keyOf(b), 'en'))
}

function isBootstrapObject(object: UpstreamObject): boolean {
  if (object.kind === 'Namespace') return upstreamNamespaces.has(object.metadata.name)
  if (object.kind === 'PriorityClass') return object.metadata.name.startsWith('system-')
  return object.metadata.labels?.['kubernetes.io/bootstrapping'] === 'rbac-defaults'
}

function withoutServerFields(object: UpstreamObject): UpstreamObject {
  const { name, namespace, labels, annotations } = object.metadata
  // Descriptions are upstream's prose and not facts.
  const { status: _status, description: _description, spec, ...rest } = object
  const isSpecFact = spec !== undefined && object.kind !== 'Namespace'
  return {
    ...rest,
    ...(isSpecFact ? { spec } : {}),
    ...(object.aggregationRule === undefined ? {} : { rules: [] }),
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined || object.kind === 'Namespace' ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  }
}

function keyOf(object: UpstreamObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}
