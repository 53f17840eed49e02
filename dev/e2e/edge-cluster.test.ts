/** Makes a cluster of two bare machines over SSH on the pages of the console, breaks into it, and takes it away again. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { assertSound } from './console-scene.ts'
import { openConsoleTab, type ConsoleTab } from './console-tab.ts'
import { EdgeHub } from './edge-hub.ts'
import {
  addsBatch,
  deletesEdge,
  fillsForm,
  machineRow,
  namesFields,
  removesDead,
  stepMark,
  tabTo,
} from './edge-pages.ts'
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
  await using tab = await openConsoleTab(hub)
  const all: Story = { hub, tab, first, second, nodeName: `node-${id}` }
  await tell(t, all, before[0] ?? [])
  await t.test('a machine that is removed waits for a budget, and is clean when it has left', () =>
    removesNode(all, before[1] ?? []),
  )
  await t.test(
    'the same machine joins again under its name, in a list with two that never answer',
    () => joinsAgain(all),
  )
  await t.test('changed labels, taints and files reach the machines', () => changesFields(all))
  await t.test('a deletion leaves nothing on the machines', async () => {
    await deletesEdge(tab, { namespace, name })
    const gone = ['wait', '--for=delete', 'edgecluster', name, '-n', namespace]
    await hub.kubectl(...gone, '--timeout=120s')
    const after = [await leftOvers(first), await leftOvers(second)]
    for (const [at, list] of after.entries())
      assert.deepEqual(changedBetween(before[at] ?? [], list), [])
    assert.equal((await hub.tryKubectl(['get', 'cluster', name])).exitCode, 1)
  })
  await t.test('no password or token is written anywhere', () => keepsSecrets(all))
})

async function tell(t: TestContext, all: Story, before: readonly string[]): Promise<void> {
  const steps: [string, (all: Story) => Promise<void>][] = [
    ['a wrong port, key, password or sudo password is named at its field of the form', checks],
    ['a machine that is not fit fails its step, and the work stops when asked', failsPreflight],
    ['a retry goes on at that step, and a skip past it', skipsPreflight],
    [
      'one that is cancelled half-made and deleted leaves a clean machine, and its token is void',
      () => takesBack(all, before),
    ],
    ['the cluster becomes Ready, though the hub is killed', becomesReady],
    ['a machine that shows another host key is refused', refusesKey],
    ['a machine that is added becomes a node', addsNode],
    ['a pod runs on it, asked for through the hub', runsPod],
  ]
  for (const [title, act] of steps) await t.test(title, () => act(all))
}

const namespace = 'edges'
const name = 'branch-7'
const foreign = '/etc/kubernetes/kubelet.conf'
/** The words of systemd-run for a program that listens on the port of a node. */
const takenSocket = ['--unit', 'taken', '--socket-property=ListenStream=10250']

interface Story {
  readonly hub: EdgeHub
  readonly tab: ConsoleTab
  readonly first: TestMachine
  readonly second: TestMachine
  readonly nodeName: string
}

async function checks({ hub, tab, first }: Story): Promise<void> {
  await hub.kubectl('create', 'namespace', namespace)
  const files = ['create', 'configmap', 'files', '--from-literal=shop.conf=shop = 7']
  await hub.kubectl(...files, '-n', namespace)
  // The hub refuses values of fields while they are typed.
  tab.browser.expect(/status of 422/)
  await fillsForm(tab.page, { namespace, name }, first)
  await namesFields(tab, first)
  tab.browser.expect(undefined)
}

/** Between the check and the making, somebody else uses the machine. */
async function failsPreflight({ hub, tab, first }: Story): Promise<void> {
  const { browser, page } = tab
  await first.ask(['systemd-run', '--quiet', ...takenSocket, 'true'])
  await first.ask(['sh', '-c', `mkdir -p /etc/kubernetes; touch ${foreign}`])
  await tabTo(page, 'Create')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await stepMark(page, 'Preflight', 'Failed').waitFor()
  await page
    .getByText(/another program listens on port 10250: stop it/)
    .first()
    .waitFor()
  await assertSound(browser, page, 'step-failed')
  const from = { configMap: 'files', key: 'shop.conf' }
  const file = { from, path: '/etc/shop/shop.conf' }
  await hub.patchSpec({ paused: true, hubServer: hub.server, files: [file] })
  await page.getByRole('button', { name: 'Resume' }).click()
  await stepMark(page, 'Preflight', 'Failed').waitFor()
  await page.getByRole('button', { name: 'Stop the work' }).click()
  const dialog = page.getByRole('dialog')
  await assertSound(browser, page, 'stop-work')
  await dialog.getByRole('button', { name: 'Stop the work' }).click()
  await page.getByText('Cancelled', { exact: true }).first().waitFor()
}

async function skipsPreflight({ hub, tab, first }: Story): Promise<void> {
  const { page } = tab
  await first.ask(['systemctl', 'stop', 'taken.socket'])
  await page.getByRole('button', { name: /^Retry all/ }).click()
  const preflight = stepMark(page, 'Preflight', 'Failed')
  await hub.until('the other finding alone', async () => {
    const { state, message } = hub.step(await hub.edge(), 'Preflight', first)
    return state === 'Failed' && !message.includes('10250')
  })
  await preflight.click()
  await page
    .getByRole('region', { name: 'Output' })
    .getByText(/kubelet\.conf/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Skip', exact: true }).click()
  await stepMark(page, 'Preflight', 'Skipped').waitFor()
}

/** Something else listens where the node would, so that the cluster has a site and never becomes Ready. */
async function takesBack({ hub, tab, first }: Story, before: readonly string[]): Promise<void> {
  const { browser, page } = tab
  const [made, login] = await Promise.all([
    hub.read('edgecluster', name),
    hub.read('secret', `${name}-ssh`),
  ])
  await first.ask(['systemd-run', '--quiet', ...takenSocket, 'true'])
  await hub.until('the site to be there', async () => {
    const { state } = hub.step(await hub.edge(), 'SiteReady', first)
    return state === 'Done'
  })
  const token = await hub.tokenOf(name)
  assert.match(await hub.answerTo(token), /forbidden/i)
  await page.getByRole('button', { name: 'Stop the work' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop the work' }).click()
  await page.getByText('Cancelled', { exact: true }).first().waitFor()
  await deletesEdge(tab, { namespace, name })
  await hub.kubectl('wait', '--for=delete', 'edgecluster', name, '-n', namespace, '--timeout=120s')
  await first.ask(['systemctl', 'stop', 'taken.socket'])
  await first.ask(['rm', '-r', '/etc/kubernetes'])
  assert.deepEqual(changedBetween(before, await leftOvers(first)), [])
  assert.match(await hub.answerTo(token), /Unauthorized|must be logged in/)
  // It begins when the page is there to look at it.
  const again = { ...made, spec: { ...made.spec, paused: true } }
  for (const object of [login, again]) await hub.apply(JSON.stringify(object))
  await page.goto(`/console/edge-clusters/${namespace}/${name}`)
  await page.getByRole('button', { name: 'Resume' }).click()
  // The first one's key is forgotten with it.
  await page.getByRole('button', { name: 'Accept this key' }).click()
  assert.deepEqual(browser.takeFaults(), [])
}

async function becomesReady({ hub, tab, first }: Story): Promise<void> {
  const { browser, page } = tab
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  await hub.until('the program to be copied', async () => {
    const edge = await hub.edge()
    return hub.step(edge, 'InstallProgram', first).state === 'Running'
  })
  await hub.kill()
  await page.getByText('The hub has not answered').waitFor()
  await hub.restart()
  const edge = await hub.untilPhase('Ready')
  assert.equal(hub.step(edge, 'InstallProgram', first).attempt, 2, 'the killed attempt counts')
  assert.equal(hub.step(edge, 'Connect', first).attempt, 1)
  await page.getByRole('link', { name: 'Open the cluster' }).waitFor({ timeout: 30_000 })
  await machineRow(page, first.address).filter({ hasText: 'Done' }).waitFor()
  browser.takeFaults()
  browser.expect(undefined)
  await assertSound(browser, page, 'edge-ready')
}

async function refusesKey({ hub, first, second }: Story): Promise<void> {
  await hub.setSecret('keeper-login', { password: second.passwords.keeper })
  const pinned = await second.hostKey()
  await second.renewHostKey()
  const machines = [
    { addresses: [first.address], role: 'Master', credentials: { name: `${name}-ssh` } },
    {
      addresses: [second.address],
      user: 'keeper',
      hostKeys: [pinned],
      credentials: { name: 'keeper-login' },
      taints: [{ key: 'example.com/video', effect: 'NoSchedule' }],
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
  const path = '-o=jsonpath={.spec.taints[*].key}'
  assert.equal(await hub.siteKubectl('get', 'node', nodeName, path), 'example.com/video')
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
    credentials: { name: `${name}-ssh` },
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

async function joinsAgain({ hub, tab, second, nodeName }: Story): Promise<void> {
  const { browser, page } = tab
  browser.expect(/status of 422/)
  // The hub's own address is refused, and nobody has the last one.
  const [own, nobody] = [hub.host.address, second.address.replace(/\d+$/, '200')]
  await addsBatch(tab, { namespace, name }, [
    'address,user,port,credentials,labels',
    `${second.address},keeper,,keeper-login,place=back`,
    `${own},,,${name}-ssh`,
    `${nobody},,,${name}-ssh`,
  ])
  const waiting = { timeout: 120_000 }
  await machineRow(page, own).filter({ hasText: 'is on the hub itself' }).waitFor(waiting)
  await machineRow(page, nobody).filter({ hasText: 'Cannot open' }).waitFor(waiting)
  await machineRow(page, second.address).filter({ hasText: 'Done' }).waitFor(waiting)
  await assertSound(browser, page, 'batch-results')
  for (const address of [own, nobody]) await removesDead(tab, address)
  browser.expect(undefined)
  await hub.until('the node to be there again', async () => {
    const { phase, machines: known } = (await hub.edge()).status
    return phase === 'Ready' && known.length === 2
  })
  const path = '-o=jsonpath={.metadata.labels.place} {.spec.unschedulable}'
  assert.equal(await hub.siteKubectl('get', 'node', nodeName, path), 'back ')
  const masters = ['get', 'nodes', '-l', 'node-role.kubernetes.io/control-plane', '-o', 'name']
  assert.equal((await hub.siteKubectl(...masters)).trim().split('\n').length, 1)
}

async function changesFields({ hub, first, second, nodeName }: Story): Promise<void> {
  const machines = [
    { addresses: [first.address], role: 'Master', credentials: { name: `${name}-ssh` } },
    {
      addresses: [second.address],
      user: 'keeper',
      hostKeys: [await second.hostKey()],
      credentials: { name: 'keeper-login' },
      labels: { tier: 'front' },
    },
  ]
  const files = [{ from: { configMap: 'files', key: 'shop.conf' }, path: '/etc/shop/other.conf' }]
  await hub.patchSpec({ machines, files })
  const look = '-o=jsonpath={.metadata.labels.tier} {.spec.taints[*].key}'
  const shown = (): Promise<string> => hub.siteKubectl('get', 'node', nodeName, look)
  await hub.until('the changes to be made', async () => {
    const { phase } = (await hub.edge()).status
    return phase === 'Ready' && (await shown()) === 'front '
  })
  for (const machine of [first, second]) {
    assert.equal(await machine.ask(['ls', '/etc/shop']), 'other.conf\n')
  }
  // A node that starts gives itself the labels of its options again.
  await second.ask(['systemctl', 'restart', 'skerry-node'])
  await hub.siteKubectl('wait', '--for=condition=Ready', `node/${nodeName}`, '--timeout=60s')
  assert.equal(await shown(), 'front ')
}

async function keepsSecrets({ hub, first, second }: Story): Promise<void> {
  const { root, keeper } = first.passwords
  const passwords = [root, `not ${root}`, keeper, second.passwords.keeper]
  await assertKeepsSecrets(hub, [first, second], passwords)
}
