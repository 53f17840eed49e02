/** Makes a cluster of two bare machines over SSH from an object on the hub, breaks into it, and takes it away again. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { EdgeHub } from './edge-hub.ts'
import { startTestMachine, whyNoMachine, type TestMachine } from '@skerry/testing'
import { exampleArchives } from './example-archives.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { changedBetween, leftOvers } from './left-overs.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())

test('an edge cluster of machines', { skip, timeout: 400_000 }, async (t) => {
  await using hub = await EdgeHub.start()
  const id = process.pid.toString(36)
  const [firstHost, secondHost] = [await hub.network.addHost(11), await hub.network.addHost(12)]
  await using first = await startTestMachine(firstHost, `master-${id}`)
  await using second = await startTestMachine(secondHost, `node-${id}`)
  // A machine may keep the data on a disk of its own, which is not ours to take away.
  const disk = 'mkdir /var/lib/skerry && mount -t tmpfs tmpfs /var/lib/skerry'
  await second.ask(['sh', '-c', disk])
  const before = [await leftOvers(first), await leftOvers(second)]
  const all: Story = { hub, first, second, nodeName: `node-${id}` }
  await tell(t, all)
  await t.test('a machine that is removed waits for a budget, and is clean when it has left', () =>
    removesNode(all, before[1] ?? []),
  )
  await t.test('the same machine joins again under its name, with its taint', () => joinsAgain(all))
  await t.test('a deletion leaves nothing on the machines', async () => {
    await hub.kubectl('delete', 'edgecluster', name, '-n', namespace, '--timeout=120s')
    const after = [await leftOvers(first), await leftOvers(second)]
    for (const [at, list] of after.entries())
      assert.deepEqual(changedBetween(before[at] ?? [], list), [])
    assert.equal((await hub.tryKubectl(['get', 'cluster', name])).exitCode, 1)
  })
  await t.test('no password or token is written anywhere', () => keepsSecrets(all))
})

async function tell(t: TestContext, all: Story): Promise<void> {
  const steps: [string, (all: Story) => Promise<void>][] = [
    ['a machine with an unknown host key waits until a person accepts it', waitsForKey],
    ['a wrong password ends the step with a clear message', failsLogin],
    [
      'with the right password and a retry the cluster becomes Ready, though the hub is killed',
      becomesReady,
    ],
    ['a machine that shows another host key is refused', refusesKey],
    ['a machine that is added becomes a node', addsNode],
    ['a pod runs on it, asked for through the hub', runsPod],
  ]
  for (const [title, act] of steps) await t.test(title, () => act(all))
}

const namespace = 'edges'
const name = 'branch-7'
const wrongPassword = 'wrong-password-5a1f'

interface Story {
  readonly hub: EdgeHub
  readonly first: TestMachine
  readonly second: TestMachine
  readonly nodeName: string
}

function manifest({ hub, first }: Story): string {
  return `
apiVersion: v1
kind: Namespace
metadata: { name: ${namespace} }
---
apiVersion: v1
kind: Secret
metadata: { name: root-login, namespace: ${namespace} }
stringData: { password: ${wrongPassword} }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: files, namespace: ${namespace} }
data: { shop.conf: 'shop = 7' }
---
apiVersion: hub.skerry.io/v1alpha1
kind: EdgeCluster
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hubServer: ${hub.server}
  files:
    - { from: { configMap: files, key: shop.conf }, path: /etc/shop/shop.conf }
  machines:
    - addresses: ['${first.address}']
      role: Master
      credentials: { name: root-login }
`
}

async function waitsForKey(all: Story): Promise<void> {
  const { hub, first } = all
  await hub.apply(manifest(all))
  const edge = await hub.untilPhase('Waiting')
  const shown = await first.hostKey()
  assert.equal(edge.status.machines[0]?.unknownHostKey, shown)
  const { message } = hub.step(edge, 'Connect', first)
  assert.match(message, /is not known; compare it with the machine's own/)
  await hub.annotate('accept-host-keys', `${first.address}=${shown}`)
}

async function failsLogin({ hub, first }: Story): Promise<void> {
  const edge = await hub.untilPhase('Failed')
  const { state, message } = hub.step(edge, 'Connect', first)
  assert.equal(state, 'Failed')
  assert.match(message, /Cannot log in to \S+ as root: .* correct the Secret/)
}

async function becomesReady({ hub, first }: Story): Promise<void> {
  await hub.setSecret('root-login', { password: first.passwords.root })
  await hub.annotate('retry', '*')
  await hub.until('the program to be copied', async () => {
    const edge = await hub.edge()
    return hub.step(edge, 'InstallProgram', first).state === 'Running'
  })
  await hub.kill()
  await hub.restart()
  const edge = await hub.untilPhase('Ready')
  assert.equal(hub.step(edge, 'InstallProgram', first).attempt, 2, 'the killed attempt counts')
  assert.equal(hub.step(edge, 'Connect', first).attempt, 1)
}

async function refusesKey({ hub, first, second }: Story): Promise<void> {
  await hub.setSecret('keeper-login', { password: second.passwords.keeper })
  const pinned = await second.hostKey()
  await second.renewHostKey()
  const machines = [
    { addresses: [first.address], role: 'Master', credentials: { name: 'root-login' } },
    {
      addresses: [second.address],
      user: 'keeper',
      hostKeys: [pinned],
      credentials: { name: 'keeper-login' },
    },
  ]
  await hub.patchSpec({ machines })
  const edge = await hub.until('the key to be refused', async () => {
    const found = await hub.edge()
    return hub.step(found, 'Connect', second).state === 'Failed' && found
  })
  assert.match(hub.step(edge, 'Connect', second).message, /instead of SHA256:\S+: it is another/)
  const shown = await second.hostKey()
  await hub.patchSpec({ machines: [machines[0], { ...machines[1], hostKeys: [shown] }] })
  await hub.annotate('retry', '*')
}

async function addsNode({ hub, first, second, nodeName }: Story): Promise<void> {
  const edge = await hub.untilPhase('Ready')
  assert.equal(hub.step(edge, 'StartSite', first).attempt, 1, 'the site is not started again')
  assert.equal(hub.step(edge, 'NodeReady', second).state, 'Done')
  const names = await hub.siteKubectl('get', 'nodes', '-o', 'name')
  assert.ok(names.split('\n').includes(`node/${nodeName}`), names)
}

async function runsPod({ hub, second, nodeName }: Story): Promise<void> {
  const image = join(await exampleArchives(), 'guestbook-v1.tar')
  await second.ask(['sh', '-c', 'cat > /root/guestbook.tar'], { input: await readFile(image) })
  await second.ask([
    'skerry',
    'image',
    'import',
    '/root/guestbook.tar',
    '--node-dir',
    '/var/lib/skerry/node',
  ])
  await second.ask(['rm', '/root/guestbook.tar'])
  await hub.applyToSite(`
apiVersion: v1
kind: Pod
metadata: { name: hello, namespace: default, labels: { app: hello } }
spec:
  nodeName: ${nodeName}
  terminationGracePeriodSeconds: 1
  containers:
    - { name: hello, image: 'skerry-examples/guestbook:v1', command: [sh, -c, 'echo hello from $HOSTNAME; exec sleep 1000'] }
`)
  await hub.siteKubectl('wait', '--for=condition=Ready', 'pod/hello', '--timeout=60s')
  assert.equal(await hub.siteKubectl('logs', 'hello'), 'hello from hello\n')
}

async function removesNode({ hub, first, second, nodeName }: Story, before: readonly string[]) {
  await hub.applyToSite(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: hello-budget, namespace: default }
spec: { minAvailable: 1, selector: { matchLabels: { app: hello } } }
`)
  const machine = {
    addresses: [first.address],
    role: 'Master',
    credentials: { name: 'root-login' },
  }
  await hub.patchSpec({ machines: [machine] })
  const held = await hub.until('the budget to keep the pod', async () => {
    const edge = await hub.edge()
    const drain = edge.status.steps.find(({ name: step }) => step === 'DrainNode')
    // A step that has not begun has no message.
    const text = String(drain?.message)
    return text.includes('hello-budget') && text
  })
  assert.match(
    held,
    /pod default\/hello may not be evicted: The disruption budget hello-budget needs 1/,
  )
  await hub.siteKubectl('delete', 'pdb', 'hello-budget')
  await hub.until('the machine to leave', async () => {
    const { phase, machines } = (await hub.edge()).status
    return phase === 'Ready' && machines.length === 1
  })
  assert.deepEqual(changedBetween(before, await leftOvers(second)), [])
  const names = await hub.siteKubectl('get', 'nodes', '-o', 'name')
  assert.ok(!names.includes(nodeName), names)
}

async function joinsAgain({ hub, first, second, nodeName }: Story): Promise<void> {
  const hostKeys = [await second.hostKey()]
  const machines = [
    { addresses: [first.address], role: 'Master', credentials: { name: 'root-login' } },
    {
      addresses: [second.address],
      user: 'keeper',
      hostKeys,
      credentials: { name: 'keeper-login' },
      taints: [{ key: 'example.com/video', effect: 'NoSchedule' }],
    },
  ]
  await hub.patchSpec({ machines })
  await hub.until('the node to be there again', async () => {
    const { phase, machines: known } = (await hub.edge()).status
    return phase === 'Ready' && known.length === 2
  })
  const path = '-o=jsonpath={.spec.taints[*].key} {.spec.unschedulable}'
  assert.equal(await hub.siteKubectl('get', 'node', nodeName, path), 'example.com/video ')
  const masters = ['get', 'nodes', '-l', 'node-role.kubernetes.io/control-plane', '-o', 'name']
  assert.equal((await hub.siteKubectl(...masters)).trim().split('\n').length, 1)
}

async function keepsSecrets({ hub, first, second }: Story): Promise<void> {
  const passwords = [first.passwords.root, second.passwords.keeper, wrongPassword]
  await assertKeepsSecrets(hub, [first, second], passwords)
}
