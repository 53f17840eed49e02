/**
 * Plays the examples that SuperEdge, KubeEdge and OpenYurt publish on a site of ours with four nodes in two places.
 * Development only:
 *   node dev/hack/published-examples.ts [superedge] [kubeedge] [openyurt --manual <directory>]
 * The manifests are those of the systems' repositories, which come through Go's module proxy, and are applied byte by byte.
 * That of OpenYurt is in its manual, for which --manual names a clone of github.com/openyurtio/openyurt.io. Without it, the
 * other two are played. Nodes have images of the names in the manifests. Needs root, the packages of end-to-end tests, Go and its module proxy.
 */
import { parseArgs } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { ClusterOnHosts } from '../e2e/cluster-on-hosts.ts'
import { echoArchives } from '../e2e/echo-archives.ts'
import { whyNot } from '../e2e/prerequisites.ts'
import { playKubeedge } from './published-examples/kubeedge.ts'
import { playOpenyurt } from './published-examples/openyurt.ts'
import type { Places } from './published-examples/places.ts'
import { playSuperedge } from './published-examples/superedge.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { manual: { type: 'string' } },
})
const { manual } = values
const systems: Readonly<Record<string, (places: Places) => Promise<void>>> = {
  superedge: playSuperedge,
  kubeedge: playKubeedge,
  ...(manual === undefined ? {} : { openyurt: (places: Places) => playOpenyurt(places, manual) }),
}
const asked = positionals
const unknown = asked.find((name) => !(name in systems))
if (unknown !== undefined) {
  const text = `Cannot play the examples of ${unknown}: there are ${Object.keys(systems).join(', ')}`
  throw new ExpectedError(text, exitCodes.usage)
}
const why = await whyNot()
if (why !== false) {
  throw new ExpectedError(`Cannot play examples: ${why}`, exitCodes.missingDependency)
}
const siteFlags = async () => ['--edge-apps', 'superedge,kubeedge,openyurt']
await using cluster = await ClusterOnHosts.start({ archives: await echoArchives(), siteFlags })
const nodes = []
for (const number of [1, 2, 3, 4]) nodes.push(await cluster.addNode(number))
const places = { cluster, first: nodes.slice(0, 2), second: nodes.slice(2) }
for (const [name, play] of Object.entries(systems)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  await play(places)
  console.log(`${name}: its examples run`)
}
