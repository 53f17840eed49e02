/**
 * Adds a list of machines to an edge cluster on the page of the web console, two of which never answer, and waits until all the
 * others are nodes:
 *   node dev/hack/batch-of-machines.ts [--lines 20]
 * Each machine is a Debian in namespaces with systemd and sshd of its own and takes about 150 MB of memory. Needs root and what
 * end-to-end tests need.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { startTestMachine, type TestMachine } from '@skerry/testing'
import { assertSound } from '../e2e/console-scene.ts'
import { openConsoleTab } from '../e2e/console-tab.ts'
import { EdgeHub } from '../e2e/edge-hub.ts'
import { addsBatch, machineRow } from '../e2e/edge-pages.ts'

const place = { namespace: 'edges', name: 'branch-7' }
const firstHost = 11
/** How long twenty machines may take on a busy computer of two cores. */
const patienceMs = 1_500_000
/** systemd takes seven for each machine; without one, sshd does not start. */
const instancesEach = 8
/** Lines of the list for machines that cannot join. */
const wrong = 2

const { values } = parseArgs({ options: { lines: { type: 'string', default: '20' } } })
const right = Number(values.lines) - wrong
if (!Number.isInteger(right) || right < 1 || right > 100) {
  const text = `Cannot make a list of ${values.lines} lines: expected a number from 3 to 102`
  throw new ExpectedError(text, exitCodes.usage)
}

const instancesFile = '/proc/sys/fs/inotify/max_user_instances'
const instances = Number(await readFile(instancesFile, 'utf8'))
const needed = instancesEach * (right + 1)
if (instances < needed) {
  const text = `Cannot boot ${right + 1} machines: the kernel gives ${instances} inotify instances, fewer than ${needed}; run sysctl -w fs.inotify.max_user_instances=512`
  throw new ExpectedError(text, exitCodes.missingDependency)
}

await using hub = await EdgeHub.start([], { patienceMs })
await using stack = new AsyncDisposableStack()
const startedMs = performance.now()
const say = (text: string): void =>
  console.log(`${Math.round((performance.now() - startedMs) / 1_000)} s: ${text}`)

await hub.kubectl('create', 'namespace', place.namespace)
const master = await addMachine('master', 0)
await hub.apply(
  JSON.stringify({
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: place,
    spec: {
      hubServer: hub.server,
      machines: [
        {
          addresses: [master.address],
          role: 'Master',
          credentials: { name: 'login-0' },
          acceptNewHostKeys: true,
        },
      ],
    },
  }),
)
await hub.untilPhase('Ready')
say('the cluster is Ready')

const machines: TestMachine[] = []
for (let at = 1; at <= right; at += 1) machines.push(await addMachine('node', at))
say(`${machines.length} machines have booted`)

await using tab = await openConsoleTab(hub)
const { browser, page } = tab
page.setDefaultTimeout(patienceMs)
browser.expect(/status of 422/)
// The hub's own address is refused, and nobody has the other one.
const [own, nobody] = [hub.host.address, master.address.replace(/\d+$/, '200')]
await addsBatch(tab, place, [
  'address,user,port,credentials',
  ...machines.map(({ address }, at) => `${address},,,login-${at + 1}`),
  `${own},,,login-1`,
  `${nobody},,,login-1`,
])
say('the list was accepted')
await machineRow(page, own).filter({ hasText: 'is on the hub itself' }).waitFor()
await machineRow(page, nobody).filter({ hasText: 'Cannot open' }).waitFor()
say('the two wrong lines are explained')
for (const [at, { address }] of machines.entries()) {
  await machineRow(page, address).filter({ hasText: 'Done' }).waitFor()
  say(`${at + 1} of ${machines.length} are nodes`)
}
const names = await hub.siteKubectl('get', 'nodes', '-o', 'name')
assert.equal(names.trim().split('\n').length, right + 1)
await assertSound(browser, page, 'batch-of-machines')

/** Boots a machine, and keeps its password at the hub. */
async function addMachine(word: string, at: number): Promise<TestMachine> {
  const host = await hub.network.addHost(firstHost + at)
  const id = process.pid.toString(36)
  const machine = stack.use(await startTestMachine(host, `batch-${word}-${at}-${id}`))
  const metadata = { name: `login-${at}`, namespace: place.namespace }
  const stringData = { password: machine.passwords.root }
  await hub.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }))
  return machine
}
