import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EdgeHub } from '../../e2e/edge-hub.ts'
import { edgeManifest } from '../../e2e/edge-manifest.ts'
import { exampleArchives } from '../../e2e/example-archives.ts'
import {
  makeVirtualMachine,
  virtualMachineKey,
  type VirtualMachine,
} from '../virtual-machines/virtual-machine.ts'
import {
  createHello,
  leavesNothing,
  namespace,
  patienceMs,
  playChapters,
  stateOf,
  told,
  type Chapter,
  type Story,
} from './story.ts'

interface Scene {
  readonly hub: EdgeHub
  readonly master: VirtualMachine
  readonly node: VirtualMachine
  readonly late: VirtualMachine
}

const chapters: readonly Chapter<Scene>[] = [
  ['a cluster is made, though its node loses its power in a step', madeThroughPowerCut],
  ['a pod runs', runsPod],
  ['the master is rebooted', rebootsMaster],
  ['the power of the master is cut: what was acknowledged is there', survivesPowerCut],
  [
    'a machine is added, though the hub is killed and the machine loses its power',
    growsThroughPowerCut,
  ],
]

/**
 * Three machines: one loses its power while the cluster is made, the master is rebooted and loses its power, and a machine is
 * added while the hub is killed.
 */
export const powerCutStory: Story = {
  architecture: 'x64',
  async play() {
    await using hub = await EdgeHub.start([], { patienceMs })
    const make = async (name: string, number: number): Promise<VirtualMachine> =>
      makeVirtualMachine({ name, host: await hub.network.addHost(number), from: hub.host })
    await using master = await make('master', 11)
    await using node = await make('node', 12)
    await using late = await make('late', 13)
    for (const machine of [master, node, late]) told(`${machine.name} boots`, await machine.start())
    const before = await stateOf([master, node, late])
    const scene = { hub, master, node, late }
    await playChapters(chapters, scene)
    await playChapters([leavesNothing], { hub, before })
  },
}

async function madeThroughPowerCut({ hub, master, node }: Scene): Promise<void> {
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
  hub: EdgeHub,
  [master, node]: readonly [VirtualMachine, VirtualMachine],
  privateKey: string,
): string {
  const login = { credentials: { name: 'login' }, acceptNewHostKeys: true }
  const machines = [
    { addresses: [master.address], role: 'Master', ...login },
    { addresses: [node.address], ...login },
  ]
  const spec = { machines, retry: { attempts: 50 } }
  return edgeManifest(hub, { 'ssh-privatekey': privateKey }, spec)
}

async function runsPod({ hub, node }: Scene): Promise<void> {
  const image = await readFile(join(await exampleArchives(), 'guestbook-v1.tar'))
  await node.ask(['sh', '-c', 'cat > /root/guestbook.tar'], { input: image })
  const place = ['--node-dir', '/var/lib/skerry/node']
  await node.ask(['skerry', 'image', 'import', '/root/guestbook.tar', ...place])
  await node.ask(['rm', '/root/guestbook.tar'])
  await createHello(hub, node, {
    image: 'skerry-examples/guestbook:v1',
    command: ['sh', '-c', 'exec sleep 100000'],
  })
  await hub.siteKubectl('wait', '--for=condition=Ready', 'pod/hello', '--timeout=120s')
}

async function rebootsMaster({ hub, master }: Scene): Promise<void> {
  told('  the master is back', await master.reboot())
  await untilWell(hub)
}

/** Writes until the power goes, and compares what was acknowledged with what is there. */
async function survivesPowerCut({ hub, master }: Scene): Promise<void> {
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

async function growsThroughPowerCut({ hub, late }: Scene): Promise<void> {
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
