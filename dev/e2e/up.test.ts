/** The newcomer's way: up, kubectl through the hub, down, up again, reset. */
import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConsoleBrowser } from './console-browser.ts'
import { assertSound, logIn } from './console-scene.ts'
import { fetchText } from './guestbook-page.ts'
import { Machine, expectSuccess } from './machine.ts'
import { whyNot } from './prerequisites.ts'
import { waitFor } from './wait-for.ts'

const browserHostNumber = 3

test('skerry up', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using machine = await Machine.start('up')
  await t.test('brings up hub, site, node and tunnel', () => comesUp(machine))
  await t.test('shows its cluster in the web console to a user with a token', () =>
    opensConsole(machine),
  )
  await t.test('says what runs', () => tellsStatus(machine))
  await t.test('is not started twice', () => refusesSecond(machine))
  await t.test('runs the guestbook through the hub', () => runsGuestbook(machine))
  await t.test('heals when each of its processes is killed', () => heals(machine))
  await t.test('goes down without the pods, and comes up with everything', () => resumes(machine))
  await t.test('leaves nothing behind when reset', () => leavesNothing(machine))
})

async function comesUp(machine: Machine): Promise<void> {
  const output = await expectSuccess(machine.up())
  assert.match(output, /Ready in \d+\.\d s\. Contexts in .*kubeconfig: hub, edge/)
  // A code is a secret, and this is not a terminal.
  assert.match(output, /Web console: https:\/\/127\.0\.0\.1:\d+\/console\/; "skerry console"/)
  assert.match(await machine.kubectl('get', 'nodes'), new RegExp(`${machine.nodeName} +Ready`))
  const clusters = await machine.inContext('hub', ['get', 'clusters'])
  assert.match(clusters.stdout, /^edge .*True/m, clusters.stderr)
}

/** The browser is on another machine, as a colleague's is. */
async function opensConsole(machine: Machine): Promise<void> {
  const rights = ['create', 'clusterrolebinding', 'operators', '--clusterrole=cluster-admin']
  const bound = await machine.inContext('hub', [...rights, '--group=operators'])
  assert.equal(bound.exitCode, 0, bound.stderr)
  const own = ['--data-dir', join(machine.dataDir, 'hub'), '-o', 'json']
  const printed = await expectSuccess(
    machine.skerry('user add', 'olga', '--group', 'operators', ...own),
  )
  // The program's own output.
  const { token } = JSON.parse(printed) as { token: string }
  const host = await machine.network.addHost(browserHostNumber)
  await using browser = await ConsoleBrowser.start(host, `https://${machine.host.address}:7443`)
  browser.expect(/status of 401/)
  const page = await browser.tab()
  await logIn(page, token)
  browser.expect(undefined)
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  await assertSound(browser, page, 'up')
}

async function tellsStatus(machine: Machine): Promise<void> {
  const output = await expectSuccess(machine.withData('status', '-o', 'json'))
  // The program's own JSON.
  const report = JSON.parse(output) as { lines: { part: string; name: string; state: string }[] }
  assert.deepEqual(
    report.lines.map(({ part, name, state }) => `${part} ${name} ${state}`),
    [
      'hub hub ready',
      'console web ready',
      'tunnel edge connected',
      'site edge ready',
      `node ${machine.nodeName} ready`,
    ],
  )
}

async function refusesSecond(machine: Machine): Promise<void> {
  const { exitCode, stderr } = await machine.up()
  assert.equal(exitCode, 8)
  assert.match(stderr, /^skerry: Cannot start: skerry is already running as process \d+;.*\n$/)
}

async function runsGuestbook(machine: Machine): Promise<void> {
  await machine.deployGuestbook()
  const page = await machine.visit()
  assert.equal(page.visits, 1)
  const said = await machine.inContext(
    'edge',
    ['exec', '-i', '-n', 'guestbook', 'redis-0', '--', 'cat'],
    'through the tunnel',
  )
  assert.equal(said.stdout, 'through the tunnel', said.stderr)
  assert.match(
    await machine.kubectl('logs', '-n', 'guestbook', 'redis-0'),
    /Ready to accept connections/,
  )
}

async function heals(machine: Machine): Promise<void> {
  const before = await containers(machine)
  const visits = (await machine.visit()).visits
  for (const role of ['hub', 'site', 'node']) {
    const pid = await pidOf(machine, role)
    process.kill(pid, 'SIGKILL')
    await waitFor(`another ${role}`, async () =>
      (await pidOf(machine, role)) === pid ? undefined : true,
    )
    await waitFor(`kubectl through the hub after the ${role} was killed`, async () =>
      (await machine.inContext('edge', ['get', 'nodes'])).stdout.includes(' Ready ')
        ? true
        : undefined,
    )
    await machine.visit()
  }
  assert.deepEqual(await containers(machine), before)
  assert.ok((await machine.visit()).visits > visits)
}

/** The role's process is a child of the supervisor's, with the role as its argument. */
async function pidOf(machine: Machine, role: string): Promise<number> {
  const supervisor = (await readFile(join(machine.dataDir, 'up.pid'), 'utf8')).match(/\d+/)?.[0]
  const { stdout } = await machine.host.run(['ps', '-o', 'pid=,args=', '--ppid', supervisor ?? ''])
  const line = stdout.split('\n').find((each) => each.includes(` ${role} --data-dir`))
  if (line === undefined) throw new Error(`Cannot find ${role} below ${supervisor}:\n${stdout}`)
  return Number.parseInt(line, 10)
}

/** Returns the ids and restarts of the lasting pods' containers, without those of the CronJob. */
async function containers(machine: Machine): Promise<string> {
  const path =
    '{range .items[*].status.containerStatuses[*]}{.containerID} {.restartCount}{"\\n"}{end}'
  const selector = 'app in (web,redis)'
  return machine.kubectl('get', 'pods', '-n', 'guestbook', '-l', selector, '-o', `jsonpath=${path}`)
}

async function resumes(machine: Machine): Promise<void> {
  const before = await containers(machine)
  const visits = (await machine.visit()).visits
  assert.equal(await expectSuccess(machine.withData('down')), 'Stopped.\n')
  const health = `http://${machine.host.address}:30080/healthz`
  assert.equal(await fetchText(machine.client, health), 'ok\n')
  await expectSuccess(machine.up())
  assert.ok((await machine.visit()).visits > visits)
  assert.equal(await containers(machine), before)
}

async function leavesNothing(machine: Machine): Promise<void> {
  assert.equal((await machine.withData('reset')).exitCode, 2)
  assert.equal(await expectSuccess(machine.withData('reset', '--yes')), 'Nothing is left.\n')
  const { stdout: processes } = await machine.host.run(['ps', '-eo', 'args='])
  assert.doesNotMatch(processes, new RegExp(machine.dataDir))
  const { stdout: mounts } = await machine.host.run(['cat', '/proc/self/mounts'])
  assert.doesNotMatch(mounts, new RegExp(`${machine.dataDir}|/run/skerry`))
  assert.equal((await machine.host.run(['nft', 'list', 'ruleset'])).stdout, '')
  const { stdout: links } = await machine.host.run(['ip', '-o', 'link'])
  assert.deepEqual(
    links
      .trim()
      .split('\n')
      .map((line) => line.split(/[ :@]+/)[1]),
    ['lo', 'eth0'],
  )
  assert.doesNotMatch((await machine.host.run(['ip', 'address'])).stdout, /10\.4[23]\./)
  assert.doesNotMatch(
    (await machine.host.run(['ip', 'route', 'show', 'table', 'all'])).stdout,
    /10\.4[23]\./,
  )
  for (const path of [machine.dataDir, '/sys/fs/cgroup/memory/skerry/' + machine.nodeName]) {
    await assert.rejects(stat(path), { code: 'ENOENT' })
  }
  assert.equal((await machine.host.run(['ls', '/run/skerry'])).exitCode, 2)
}
