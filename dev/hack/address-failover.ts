/**
 * Measures how long an address of a range is away when the node that announces it dies. Development only:
 *   node dev/hack/address-failover.ts [rounds]
 * A site with `--load-balancer <range>` and two nodes run in network namespaces, and a client asks a service at its address
 * all the time. Each round cuts the cable of the node that announces it, and puts it back once the other one has taken over
 * and the node is ready again. Needs root and the packages of end-to-end tests.
 */
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import type { TestHost } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from '../e2e/cluster-on-hosts.ts'
import { echoOnEachNode } from '../e2e/echo-manifest.ts'
import { whyNot } from '../e2e/prerequisites.ts'

/** One web server on each node, and a load balancer over both. */
const manifest = `${echoOnEachNode}---
apiVersion: v1
kind: Service
metadata: { name: echo, namespace: default }
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  selector: { app: echo }
  ports: [{ port: 22, targetPort: 8080 }]
`

const why = await whyNot()
if (why !== false) {
  throw new ExpectedError(`Cannot measure: ${why}`, exitCodes.missingDependency)
}
const rounds = Number(process.argv[2] ?? 3)
const outer: { client?: TestHost } = {}
await using cluster = await ClusterOnHosts.start({
  async siteFlags(place) {
    outer.client = await place.host(4)
    return ['--load-balancer', `${outer.client.address.replace(/\d+$/, '240')}-245`]
  },
})
const { client } = outer
if (client === undefined) throw new Error('Cannot measure: there is no client')
const nodes = [await cluster.addNode(2), await cluster.addNode(3)]
for (const { name } of nodes) await cluster.untilNodeReady(name)
await cluster.apply(manifest)
await cluster.kubectl('rollout', 'status', 'daemonset/echo', '--timeout=90s')
const address = await cluster.waitFor('the service to have an address', async () => {
  const path = 'jsonpath={.status.loadBalancer.ingress[0].ip}'
  return (await cluster.kubectl('get', 'service', 'echo', '-o', path)) || undefined
})
const outagesMs: number[] = []
for (let round = 1; round <= rounds; round++) {
  await cluster.waitFor('the address to answer', () => answers(client, address))
  const holder = await holderOf(nodes)
  await holder.host.cut()
  const startMs = systemClock.monotonicMs()
  await cluster.waitFor('the address to answer again', () => answers(client, address))
  outagesMs.push(Math.round(systemClock.monotonicMs() - startMs))
  console.log(`round ${round}: ${outagesMs.at(-1)} ms from ${holder.name}`)
  await holder.host.restore()
  await cluster.waitFor('the node to have given the address up', async () =>
    (await holderOf(nodes)).name === holder.name ? undefined : true,
  )
  await cluster.untilNodeReady(holder.name)
}
console.log(`worst of ${rounds}: ${Math.max(...outagesMs)} ms`)

/** Returns the answer of the service, if there is one at once. */
async function answers(from: TestHost, to: string): Promise<string | undefined> {
  const ask = ['timeout', '0.3', 'busybox', 'wget', '-qO-', `http://${to}:22/name`]
  const { exitCode, stdout } = await from.run(ask)
  return exitCode === 0 ? stdout.trim() : undefined
}

async function holderOf(all: readonly EdgeNode[]): Promise<EdgeNode> {
  const path = 'jsonpath={.items[0].spec.holderIdentity}'
  const label = ['-l', 'skerry.io/service-address']
  const name = await cluster.kubectl('get', 'leases', '-n', 'kube-system', ...label, '-o', path)
  const found = all.find((each) => each.name === name)
  if (found === undefined) throw new Error(`Cannot measure: no node announces ${address}`)
  return found
}
