import { setTimeout as sleep } from 'node:timers/promises'
import { startTestMachine } from '@skerry/testing'
import { EdgeHub } from '../../e2e/edge-hub.ts'

const namespace = 'edges'
const readyMsMax = 600_000
const lookMs = 250

/** Measures the seconds from the object to a Ready cluster of so many machines, the first of which is the master. */
export async function measureReadyCluster(machines: number): Promise<number> {
  await using hub = await EdgeHub.start()
  await using stack = new AsyncDisposableStack()
  const id = process.pid.toString(36)
  const blocks: object[] = []
  const objects: object[] = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]
  for (let at = 0; at < machines; at++) {
    const host = await hub.network.addHost(11 + at)
    const machine = stack.use(await startTestMachine(host, `bench-${at}-${id}`))
    const name = `login-${at}`
    const stringData = { password: machine.passwords.root }
    objects.push({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData })
    blocks.push({
      addresses: [machine.address],
      credentials: { name },
      acceptNewHostKeys: true,
      role: at === 0 ? 'Master' : 'Node',
    })
  }
  await hub.apply(objects.map((each) => JSON.stringify(each)).join('\n---\n'))
  const spec = { hubServer: hub.server, machines: blocks }
  const metadata = { name: 'branch-7', namespace }
  const edge = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata, spec }
  const startMs = performance.now()
  await hub.apply(JSON.stringify(edge))
  await untilReady(hub, startMs)
  return (performance.now() - startMs) / 1_000
}

async function untilReady(hub: EdgeHub, startMs: number): Promise<void> {
  const path = 'jsonpath={.status.phase} {.status.conditions[?(@.type=="Ready")].message}'
  for (;;) {
    const seen = await hub.kubectl('get', 'edgecluster', 'branch-7', '-n', namespace, '-o', path)
    const [phase] = seen.split(' ')
    if (phase === 'Ready') return
    if (phase === 'Failed' || performance.now() - startMs > readyMsMax) {
      throw new Error(`Cannot measure: the cluster is not Ready: ${seen}`)
    }
    await sleep(lookMs)
  }
}
