import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EdgeNode } from '../../e2e/cluster-on-hosts.ts'
import { startRegistry } from '../../e2e/registry-on-host.ts'
import { labelNodes, untilRolledOut, type Places } from './places.ts'
import { exampleIn } from './published-text.ts'

const page = 'versioned_docs/version-v1.7/user-manuals/workload/yurt-app-set.md'

/** The pools that the example names. */
const pools = ['np1xxxxxx', 'np2xxxxxx'] as const

/** Plays the YurtAppSet of the manual: two pools, of which the second has tweaks. It always pulls its images. */
export async function playOpenyurt(places: Places, manual: string): Promise<void> {
  const { cluster } = places
  for (const node of [...places.first, ...places.second]) await serveImages(places, node)
  for (const [at, nodes] of [places.first, places.second].entries()) {
    const pool = pools[at] ?? ''
    const manifest = { apiVersion: 'apps.openyurt.io/v1beta2', kind: 'NodePool' }
    const head = { metadata: { name: pool }, spec: { type: 'Edge' } }
    await cluster.apply(JSON.stringify({ ...manifest, ...head }))
    await labelNodes(places, nodes, `apps.openyurt.io/nodepool=${pool}`)
  }
  await cluster.apply(exampleIn(await readFile(join(manual, page), 'utf8'), 'kind: YurtAppSet'))
  await cluster.waitFor('the workloads to be ready', async () => {
    const path =
      'jsonpath={.status.totalWorkloads} {.status.readyWorkloads} {.status.updatedWorkloads}'
    return (await cluster.kubectl('get', 'yas', 'example', '-o', path)) === '2 2 2'
      ? true
      : undefined
  })
  await expectWorkload(places, pools[0], '2 nginx:1.19.1')
  await expectWorkload(places, pools[1], '3 nginx:1.20.1 bar')
  await cluster.kubectl('delete', 'yas', 'example')
  await cluster.kubectl('delete', 'nodepools', '--all')
}

/** Lets the node's containerd ask a registry on its own host for images of the public one. */
async function serveImages({ cluster }: Places, { name, host }: EdgeNode): Promise<void> {
  const address = await startRegistry(host, { challenge: 'none' })
  const directory = join(cluster.directory, name, 'registries', 'docker.io')
  await mkdir(directory, { recursive: true })
  const lines = [`[host."http://${address}"]`, '  capabilities = ["pull", "resolve"]', '']
  await writeFile(join(directory, 'hosts.toml'), lines.join('\n'))
}

async function expectWorkload(places: Places, pool: string, expected: string): Promise<void> {
  const { cluster } = places
  const selector = ['-l', `apps.openyurt.io/pool-name=${pool}`]
  const names = await cluster.kubectl('get', 'deployments', ...selector, '-o', 'name')
  await untilRolledOut(places, names.trim())
  const parts = [
    '.status.readyReplicas',
    '.spec.template.spec.containers[0].image',
    '.metadata.labels.foo',
  ]
  const path = `jsonpath=${parts.map((part) => `{.items[0]${part}}`).join(' ')}`
  const found = (await cluster.kubectl('get', 'deployments', ...selector, '-o', path)).trim()
  if (found !== expected) {
    throw new Error(
      `The workload of ${pool} differs from the manual: "${found}", not "${expected}"`,
    )
  }
}
