import assert from 'node:assert/strict'
import type { ClusterOnHosts } from './cluster-on-hosts.ts'

/** A cluster that exists, and the hub to which it is imported. */
export interface ImportScene {
  readonly cluster: ClusterOnHosts
  /** The name of the EdgeCluster. */
  readonly name: string
  readonly server: string
  /** Runs skerry as the hub's administrator. */
  readonly atHub: (args: readonly string[]) => Promise<string>
  /** Runs kubectl as the hub's administrator. */
  readonly kubectl: (args: readonly string[]) => Promise<string>
}

/** Imports a cluster by its manifest, and takes the agent out again. The cluster is then what it was before. */
export async function importsAndBacksOut(scene: ImportScene): Promise<void> {
  const { cluster, name, server, atHub, kubectl } = scene
  const before = await objectsOf(cluster)
  const hubBefore = await hubObjects(scene)
  const told = await atHub(['import', 'edge-cluster', name, '--hub-server', server, '--no-wait'])
  assert.match(told, new RegExp(`edge-cluster join-manifest ${name}.* kubectl .*apply`))
  const manifest = await cluster.waitFor('the manifest', () =>
    atHub(['edge-cluster', 'join-manifest', name]),
  )
  await cluster.apply(manifest)
  // It ends with another exit code unless the cluster is Ready.
  await atHub(['edge-cluster', 'watch', name])
  const steps = 'jsonpath={range .status.steps[*]}{.name} {.state}{"\\n"}{end}'
  const states = (await kubectl(['get', 'edgecluster', name, '-o', steps])).trim().split('\n')
  assert.ok(states.length > 2 && states.every((each) => each.endsWith(' Done')), states.join())
  const waited = ['wait', 'edgecluster', name, '--for=condition=Ready', '--timeout=30s']
  await kubectl(waited)
  // Its agent acts for nobody at first, so the hub's administrator sees that it is Ready, and nothing inside.
  const ready = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
  assert.equal(await kubectl(['get', 'cluster', name, '-o', ready]), 'True')
  assert.notDeepEqual(await objectsOf(cluster), before)
  await atHub(['edge-cluster', 'delete', name, '--wait'])
  await cluster.waitFor('the cluster to be as before', async () => {
    assert.deepEqual(await objectsOf(cluster), before)
    return true
  })
  assert.deepEqual(await hubObjects(scene), hubBefore)
}

/** Kinds of objects that come and go by themselves. */
const restless = /^events|\bevents\.|metrics\.k8s\.io|^leases|^endpoint|^componentstatuses/

/** Returns every object of a cluster as text, without its state and versions. */
async function objectsOf(cluster: ClusterOnHosts): Promise<string[]> {
  const listed = await cluster.kubectl('api-resources', '--verbs=list', '-o', 'name')
  const kinds = listed.trim().split('\n')
  const lasting = kinds.filter((kind) => !restless.test(kind)).join(',')
  const { items } = JSON.parse(await cluster.kubectl('get', lasting, '-A', '-o', 'json')) as {
    items: readonly { metadata: object; status?: unknown }[]
  }
  return items
    .map(({ status: _state, metadata, ...rest }) => {
      const versions = { resourceVersion: undefined, generation: undefined }
      return JSON.stringify({ ...rest, metadata: { ...metadata, ...versions } })
    })
    .toSorted()
}

/** Returns what an import could leave at the hub. */
async function hubObjects({ kubectl }: ImportScene): Promise<string[]> {
  const kinds = 'edgeclusters,clusters,secrets,configmaps,clusterroles,clusterrolebindings'
  const found = sorted(await kubectl(['get', kinds, '-A', '-o', namesPath]))
  // It keeps the agents whose certificates are void until these expire.
  return found.filter((each) => !each.endsWith('/revoked-agents'))
}

const namesPath =
  'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}'

function sorted(text: string): string[] {
  return text.trim().split('\n').toSorted()
}
