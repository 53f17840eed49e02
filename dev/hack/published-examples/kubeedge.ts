import { labelNodes, type Places } from './places.ts'
import { exampleIn, publishedFile } from './published-text.ts'

const page = {
  module: 'github.com/kubeedge/kubeedge',
  version: 'v1.23.1',
  path: 'docs/proposals/sig-node/node-group-management.md',
} as const

/** Plays the groups of the page. Its EdgeApplication has tabs and misspelt fields, and no server takes it. */
export async function playKubeedge(places: Places): Promise<void> {
  const { cluster } = places
  const groups = { hangzhou: places.first, beijing: places.second }
  for (const [group, nodes] of Object.entries(groups)) {
    await labelNodes(places, nodes, `location=${group}`)
  }
  await cluster.apply(exampleIn(await publishedFile(page), 'kind: NodeGroup'))
  for (const [group, nodes] of Object.entries(groups)) {
    const names = nodes.map(({ name }) => `node/${name}`).toSorted()
    await cluster.waitFor(`the nodes of ${group}`, async () => {
      const label = `apps.kubeedge.io/belonging-to=${group}`
      const found = (await cluster.kubectl('get', 'nodes', '-l', label, '-o', 'name')).trim()
      return found.split('\n').toSorted().join() === names.join() ? true : undefined
    })
  }
  await cluster.kubectl('delete', 'nodegroups.apps.kubeedge.io', '--all')
}
