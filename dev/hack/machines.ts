/**
 * Plays the life of an edge cluster on virtual machines with a kernel, systemd and a volatile disk of their own:
 * made while a machine loses its power, rebooted, cut off, grown, taken away. Development only, a quarter of an hour:
 *   node dev/hack/machines.ts
 * Needs root and the packages qemu-system-x86 mmdebstrap e2fsprogs cpio xz-utils openssh-client; the kernel comes from
 * the package mirror. Nothing stays on the host but the base image below the system's temporary directory.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  makeVirtualMachine,
  virtualMachineKey,
  whyNoVirtualMachine,
  type VirtualMachine,
} from './virtual-machines/virtual-machine.ts'
import { EdgeHub } from '../e2e/edge-hub.ts'
import { exampleArchives } from '../e2e/example-archives.ts'
import { leftOvers } from '../e2e/left-overs.ts'

/** Emulated machines are twelve times slower than the host, and other work on the host makes them slower still. */
const patienceMs = 1_800_000
const namespace = 'edges'

interface Story {
  readonly hub: EdgeHub
  readonly master: VirtualMachine
  readonly node: VirtualMachine
  readonly late: VirtualMachine
}

const chapters: readonly (readonly [string, (story: Story) => Promise<void>])[] = [
  ['a cluster is made, though its node loses its power in a step', madeThroughPowerCut],
  ['a pod runs', runsPod],
  ['the master is rebooted', rebootsMaster],
  ['the power of the master is cut: what was acknowledged is there', survivesPowerCut],
  [
    'a machine is added, though the hub is killed and the machine loses its power',
    growsThroughPowerCut,
  ],
  ['the cluster is taken away, and nothing is left', leavesNothing],
]

async function main(): Promise<void> {
  const why = await whyNoVirtualMachine()
  if (why !== false)
    throw new ExpectedError(`Cannot run machines: ${why}`, exitCodes.missingDependency)
  await using hub = await EdgeHub.start([], { patienceMs })
  const make = async (name: string, number: number): Promise<VirtualMachine> =>
    makeVirtualMachine({ name, host: await hub.network.addHost(number), from: hub.host })
  await using master = await make('master', 11)
  await using node = await make('node', 12)
  await using late = await make('late', 13)
  for (const machine of [master, node, late]) told(`${machine.name} boots`, await machine.start())
  const story = { hub, master, node, late }
  for (const [title, play] of chapters) {
    const startMs = performance.now()
    await play(story)
    told(title, performance.now() - startMs)
  }
}

function told(title: string, ms: number): void {
  console.log(`${(ms / 1_000).toFixed(0).padStart(5)} s  ${title}`)
}

const before = new Map<string, readonly string[]>()

async function madeThroughPowerCut({ hub, master, node, late }: Story): Promise<void> {
  for (const each of [master, node, late]) before.set(each.name, await leftOvers(each))
  const privateKey = await readFile(await virtualMachineKey(), 'utf8')
  await hub.apply(manifestOf(hub, [master, node], privateKey))
  await hub.until('the program to be copied', async () => {
    const { state } = hub.step(await hub.edge(), 'InstallProgram', node)
    return state === 'Running'
  })
  await node.cut()
  told('  the node boots again', await node.start())
  const edge = await hub.untilPhase('Ready')
  assert.ok(hub.step(edge, 'InstallProgram', node).attempt > 1, 'the step was not broken off')
}

function manifestOf(
  { server }: EdgeHub,
  [master, node]: readonly [VirtualMachine, VirtualMachine],
  privateKey: string,
): string {
  const login = { credentials: { name: 'login' }, acceptNewHostKeys: true }
  const machines = [
    { addresses: [master.address], role: 'Master', ...login },
    { addresses: [node.address], ...login },
  ]
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'login', namespace },
      stringData: { 'ssh-privatekey': privateKey },
    },
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name: 'branch-7', namespace },
      spec: { hubServer: server, machines, retry: { attempts: 50 } },
    },
  ]
  return objects.map((each) => JSON.stringify(each)).join('\n---\n')
}

async function runsPod({ hub, node }: Story): Promise<void> {
  const image = await readFile(join(await exampleArchives(), 'guestbook-v1.tar'))
  await node.ask(['sh', '-c', 'cat > /root/guestbook.tar'], { input: image })
  const place = ['--node-dir', '/var/lib/skerry/node']
  await node.ask(['skerry', 'image', 'import', '/root/guestbook.tar', ...place])
  await node.ask(['rm', '/root/guestbook.tar'])
  const container = {
    name: 'hello',
    image: 'skerry-examples/guestbook:v1',
    command: ['sh', '-c', 'exec sleep 100000'],
  }
  await hub.applyToSite(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'hello', namespace: 'default' },
      spec: { nodeName: node.name, containers: [container] },
    }),
  )
  await hub.siteKubectl('wait', '--for=condition=Ready', 'pod/hello', '--timeout=120s')
}

async function rebootsMaster({ hub, master }: Story): Promise<void> {
  told('  the master is back', await master.reboot())
  await untilWell(hub)
}

/** Writes until the power goes, and compares what was acknowledged with what is there. */
async function survivesPowerCut({ hub, master }: Story): Promise<void> {
  const acknowledged: string[] = []
  let isOver = false
  const writing = (async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const name = `before-the-cut-${n}`
      const wrote = hub.siteKubectl('create', 'configmap', name, '--request-timeout=10s')
      // A write that fails was not acknowledged.
      await wrote.then(
        () => acknowledged.push(name),
        () => undefined,
      )
    }
  })()
  await hub.until('some writes', async () => acknowledged.length >= 5)
  await master.cut()
  isOver = true
  await writing
  told('  the master boots again', await master.start())
  await untilWell(hub)
  const there = new Set((await hub.siteKubectl('get', 'configmaps', '-o', 'name')).split('\n'))
  const lost = acknowledged.filter((name) => !there.has(`configmap/${name}`))
  assert.deepEqual(lost, [], 'acknowledged writes are lost')
  console.log(`         ${acknowledged.length} acknowledged writes, none lost`)
}

async function untilWell(hub: EdgeHub): Promise<void> {
  await hub.until('nodes and pod to be Ready', async () => {
    const nodes = await hub.siteKubectl('get', 'nodes', '--no-headers', '--request-timeout=20s')
    const pod = await hub.siteKubectl('get', 'pod', 'hello', '--request-timeout=20s')
    return !nodes.includes('NotReady') && /hello +1\/1 +Running/.test(pod)
  })
}

async function growsThroughPowerCut({ hub, late }: Story): Promise<void> {
  const { spec } = JSON.parse(
    await hub.kubectl('get', 'edgecluster', 'branch-7', '-n', namespace, '-o', 'json'),
  ) as { spec: { machines: object[] } }
  const login = { credentials: { name: 'login' }, acceptNewHostKeys: true }
  await hub.patchSpec({ machines: [...spec.machines, { addresses: [late.address], ...login }] })
  await hub.until('the machine to be prepared', async () => {
    const { state } = hub.step(await hub.edge(), 'PrepareMachine', late)
    return state === 'Running'
  })
  await hub.kill()
  await late.cut()
  told('  the machine boots again', await late.start())
  await hub.restart()
  await hub.until('three nodes', async () => {
    const nodes = await hub.siteKubectl('get', 'nodes', '--no-headers')
    return nodes.trim().split('\n').length === 3 && !nodes.includes('NotReady')
  })
  await hub.untilPhase('Ready')
}

async function leavesNothing({ hub, master, node, late }: Story): Promise<void> {
  await hub.kubectl('delete', 'edgecluster', 'branch-7', '-n', namespace, '--wait=false')
  await hub.until('the object to be gone', async () => {
    const found = await hub.tryKubectl(['get', 'edgecluster', 'branch-7', '-n', namespace])
    return found.exitCode === 1 && found.stderr.includes('NotFound')
  })
  const left: string[] = []
  for (const each of [master, node, late]) {
    const known = new Set(before.get(each.name))
    const more = (await leftOvers(each)).filter((line) => !known.has(line))
    left.push(...more.map((line) => `${each.name}: ${line}`))
  }
  assert.deepEqual(left, [], 'something is left')
}

await main()
