import assert from 'node:assert/strict'
import type { TestHost } from '@skerry/testing'
import type { ClusterOnHosts, EdgeNode } from './cluster-on-hosts.ts'
import { containerStates } from './container-states.ts'

const eachMs = 60_000

/** Gives a host another address, as a DHCP server does that has a new range. Returns that address. */
async function giveAddress(host: TestHost, before: string, hostNumber: number): Promise<string> {
  const address = before.replace(/\d+$/, String(hostNumber))
  for (const [verb, each] of [
    ['delete', before],
    ['add', address],
  ] as const) {
    const command = ['ip', 'address', verb, `${each}/24`, 'dev', 'eth0']
    const { exitCode, stderr } = await host.run(command)
    assert.equal(exitCode, 0, stderr)
  }
  return address
}

/** The site's machine takes another address: the service `kubernetes` names it, and the certificate is good for it. */
export async function moveSite(cluster: ClusterOnHosts): Promise<string> {
  const address = await giveAddress(cluster.siteHost, cluster.siteHost.address, 78)
  const path = 'jsonpath={.endpoints[*].addresses[*]}'
  await cluster.waitFor(
    'the service kubernetes to lead to the address',
    async () => {
      const asked = ['get', 'endpointslice', 'kubernetes', '-o', path]
      return (await cluster.tryKubectl(asked)).stdout === address ? true : undefined
    },
    { timeoutMs: eachMs },
  )
  await cluster.waitFor(
    'the certificate to name the address',
    async () => {
      const { exitCode } = await cluster.tryKubectl([
        '--server',
        `https://${address}:6443`,
        'version',
      ])
      return exitCode === 0 ? true : undefined
    },
    { timeoutMs: eachMs },
  )
  return address
}

/** The node takes another address: the node reports it, and is reached there, while its containers run on. */
export async function moveNode(
  cluster: ClusterOnHosts,
  node: EdgeNode,
  probe: () => Promise<unknown>,
): Promise<void> {
  const before = await containerStates(cluster, '-l', 'app=echo')
  await untilNodeAt(cluster, node, await giveAddress(node.host, node.host.address, 77))
  await probe()
  await cluster.untilNodeReady(node.name)
  assert.deepEqual(await containerStates(cluster, '-l', 'app=echo'), before)
}

export async function untilNodeAt(
  cluster: ClusterOnHosts,
  { name }: EdgeNode,
  address: string,
): Promise<void> {
  const path = 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'
  await cluster.waitFor(
    'the node to report its address',
    async () => {
      const { stdout } = await cluster.tryKubectl(['get', 'node', name, '-o', path])
      return stdout === address ? true : undefined
    },
    { timeoutMs: eachMs },
  )
}
