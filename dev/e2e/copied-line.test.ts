/** Makes a site and a node of two bare machines, each by one copied line, over links that break and files that change. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTestMachine, whyNoMachine, type TestMachine } from '@skerry/testing'
import { assertSound } from './console-scene.ts'
import { openConsoleTab } from './console-tab.ts'
import { LineHub } from './line-hub.ts'
import { changedBetween, leftOvers } from './left-overs.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())

test(
  'one copied line makes a machine a site, another a node',
  { skip, timeout: 300_000 },
  async (t) => {
    await using hub = await LineHub.start()
    const id = process.pid.toString(36)
    const [firstHost, secondHost] = [await hub.network.addHost(11), await hub.network.addHost(12)]
    await using first = await startTestMachine(firstHost, `line-site-${id}`)
    await using second = await startTestMachine(secondHost, `line-node-${id}`)
    await reachesOnly(first, [hub.address, second.address])
    await reachesOnly(second, [first.address])
    const before = [await leftOvers(first), await leftOvers(second)]
    await tell(t, { hub, first, second, nodeNames: [`line-site-${id}`, `line-node-${id}`] })
    await t.test('cleaning leaves nothing on the machines', async () => {
      for (const [at, machine] of [first, second].entries()) {
        await machine.ask(['skerry', 'machine', 'clean', '--yes'])
        assert.deepEqual(changedBetween(before[at] ?? [], await leftOvers(machine)), [])
      }
    })
  },
)

interface Story {
  readonly hub: LineHub
  readonly first: TestMachine
  readonly second: TestMachine
  readonly nodeNames: readonly string[]
}

async function tell(t: TestContext, all: Story): Promise<void> {
  const steps: [string, (all: Story) => Promise<void>][] = [
    ['a file that was changed on its way is refused, and nothing is installed', refusesChanged],
    ['a download that the hub breaks off continues, and the machine is a site', becomesSite],
    ['a line whose token has expired says so before anything large is fetched', refusesExpired],
    [
      'a machine that reaches its site alone becomes a node by a line of the console, which shows it unasked',
      becomesNode,
    ],
    ['the same line a second time finds everything done', doesNothingTwice],
    ['no process has shown a token in its arguments', async ({ hub }) => hub.assertNoToken()],
  ]
  for (const [title, act] of steps) await t.test(title, () => act(all))
}

/** Takes away the machine's route to its network, and leaves a way to some addresses. */
async function reachesOnly(machine: TestMachine, addresses: readonly string[]): Promise<void> {
  const network = machine.address.replace(/\d+$/, '0/24')
  for (const address of addresses) {
    await machine.ask(['ip', 'route', 'add', address, 'dev', 'eth0', 'src', machine.address])
  }
  await machine.ask(['ip', 'route', 'delete', network])
}

async function refusesChanged({ hub, first }: Story): Promise<void> {
  await hub.makeLine()
  const restore = await hub.changePackedFile()
  const { exitCode, stderr, stdout } = await hub.paste(first, hub.line)
  assert.equal(exitCode, 1, stdout)
  assert.match(stderr, /is another one than when the line was made, and was not used/)
  assert.equal((await first.run(['test', '-e', '/usr/local/bin/skerry'])).exitCode, 1)
  await restore()
}

async function becomesSite({ hub, first, nodeNames }: Story): Promise<void> {
  // The end of a connection passes: a reset that is lost would be noticed half a minute later.
  const slow = 'tcp sport 7443 meta length > 200 limit rate over 8 mbytes/second drop'
  const rules = `table inet slow { chain in { type filter hook input priority 0; ${slow}; }; }`
  await first.ask(['nft', '-f', '-'], { input: rules })
  const pasted = hub.paste(first, hub.line)
  await hub.untilFetched(first, 4_000_000)
  await hub.kill()
  await first.ask(['nft', 'delete', 'table', 'inet', 'slow'])
  await hub.restart()
  const { exitCode, stdout, stderr } = await pasted
  assert.equal(exitCode, 0, stdout + stderr)
  const [, kept = ''] = /ended after (\d+) of \d+ bytes; it continues/.exec(stdout) ?? []
  assert.ok(Number(kept) >= 4_000_000, stdout)
  assert.match(stdout, /cluster branch-7 is Ready on the hub/)
  assert.match(await hub.siteKubectl('get', 'nodes'), new RegExp(`${nodeNames[0]} +Ready`))
}

async function refusesExpired({ hub, first, second }: Story): Promise<void> {
  const line = await hub.siteLine(first)
  const token = /echo ([a-z0-9]{6})\./.exec(line)?.[1]
  await hub.siteKubectl('delete', 'secret', '-n', 'kube-system', `bootstrap-token-${token}`)
  await hub.untilForgotten(`${token}`)
  const { exitCode, stderr } = await hub.paste(second, line)
  assert.equal(exitCode, 1)
  assert.match(stderr, /token [a-z0-9]{6} is unknown at https:\S+ or expired: make a new line/)
}

async function becomesNode({ hub, second, nodeNames }: Story): Promise<void> {
  const away = await second.run(['ip', 'route', 'get', hub.address])
  assert.match(away.stderr, /unreachable/)
  await using tab = await openConsoleTab(hub)
  const { browser, page } = tab
  await page.goto('/console/clusters/branch-7/add-nodes')
  await page.getByLabel('Labels of the node').fill('place=counter')
  await page.getByRole('button', { name: 'Make the line' }).click()
  const made = page.locator('.command')
  await made.getByText('••••••••').waitFor()
  await assertSound(browser, page, 'join-line')
  await made.getByRole('button', { name: 'Show' }).click()
  const line = hub.countToken(await made.locator('code').innerText())
  const { exitCode, stdout, stderr } = await hub.paste(second, line)
  assert.equal(exitCode, 0, stdout + stderr)
  const joined = page.getByRole('listitem').filter({ hasText: `${nodeNames[1]}` })
  await joined.filter({ hasText: /Ready/ }).waitFor()
  await assertSound(browser, page, 'node-joined')
  const labels = await hub.siteKubectl('get', 'node', `${nodeNames[1]}`, '--show-labels')
  assert.match(labels, /place=counter/)
  const nodes = await hub.siteKubectl('get', 'nodes')
  assert.match(nodes, new RegExp(`${nodeNames[1]} +Ready`))
}

async function doesNothingTwice({ hub, first, second }: Story): Promise<void> {
  const { exitCode, stdout, stderr } = await hub.paste(second, await hub.siteLine(first))
  assert.equal(exitCode, 0, stdout + stderr)
  assert.doesNotMatch(stdout, /fetching/)
  assert.match(stdout, /node \S+ is Ready/)
}
