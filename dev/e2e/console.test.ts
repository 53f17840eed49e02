/** The web console in a real browser, against a real hub, site and containers. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startCloud, type Cloud } from './cloud.ts'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { ConsoleBrowser } from './console-browser.ts'
import { whyNot } from './prerequisites.ts'
import { waitFor } from './wait-for.ts'

const launcher = join(import.meta.dirname, '../../skerry')
const browserHost = 4

interface Scene {
  readonly cluster: ClusterOnHosts
  readonly cloud: Cloud
  readonly browser: ConsoleBrowser
  readonly token: string
}

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: beacon, namespace: default, labels: { app: beacon } }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: beacon
      image: skerry-examples/guestbook:v1
      command: [sh, -c, 'n=0; while true; do printf "\\033[31mflash\\033[0m %s <img src=x onerror=alert(1)>\\n" $n; n=$((n+1)); sleep 1; done']
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: hostile
  namespace: default
  annotations: { note: '"><script>alert(1)</script>' }
data:
  page: |
    <img src=x onerror=alert(1)>
  owned: before
`

/** Strings that would become markup, script or another layout if a page took them for more than texts. */
const hostileLabel = 'a-very-long-label-that-must-not-break-the-layout-of-any-page-0123'

test('the web console', { skip: await whyNot(), timeout: 580_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(1)
  const cloud = await startCloud(cluster, { hubCommand: [launcher] })
  const created = await cloud.tryKubectl(['apply', '-f', '-'], { input: manifest })
  assert.equal(created.exitCode, 0, created.stderr)
  const host = await cluster.host(browserHost)
  await using browser = await ConsoleBrowser.start(host, cloud.server)
  await giveRights(cloud)
  const token = await tokenOf(cloud, 'alice', 'admins')
  const scene: Scene = { cluster, cloud, browser, token }
  const page = await browser.tab()
  await t.test('refuses a wrong token, and keeps nothing of it', () => refusesToken(scene, page))
  await t.test('logs in with a token, and shows the fleet', () => showsFleet(scene, page))
  await t.test('keeps no credential where a script could read it', () => keepsNoSecret(scene, page))
  await t.test('shows a cluster, its nodes and its pods', () => showsCluster(scene, page))
  await t.test('shows hostile texts as texts', () => showsTexts(scene, page))
  await t.test('follows a log over a cut tunnel', () => followsLog(scene, page))
  await t.test('opens a shell', () => opensShell(scene, page))
  await t.test('shows the conflict of an edit, and its owner', () => editsObject(scene, page))
  await t.test('checks the form of a cluster of several masters', () => checksForm(scene, page))
  await t.test('says that a cluster is away, and when it is back', () => seesAbsence(scene, page))
  await t.test('names the missing right to a user without rights', () => refusesStranger(scene))
  await t.test('speaks Chinese, in light colours, on a phone', () => fitsPhone(scene))
  await t.test('ends all tabs of a session that logs out', () => endsSession(scene, page))
})

/** Makes a group administrator of the hub and of the cluster. */
async function giveRights(cloud: Cloud): Promise<void> {
  const binding = ['create', 'clusterrolebinding', 'admins', '--clusterrole=cluster-admin']
  await cloud.kubectl(...binding, '--group=admins')
  const hub = ['--server', cloud.server, ...binding, '--group=admins']
  const made = await cloud.tryKubectl(hub)
  assert.equal(made.exitCode, 0, made.stderr)
}

async function tokenOf(cloud: Cloud, user: string, ...groups: string[]): Promise<string> {
  const flags = groups.flatMap((group) => ['--group', group])
  const printed = await cloud.skerry(
    'user',
    'add',
    user,
    ...flags,
    '--data-dir',
    cloud.directory,
    '-o',
    'json',
  )
  // The program's own output.
  return (JSON.parse(printed) as { token: string }).token
}

async function logIn(page: Page, token: string): Promise<void> {
  await page.goto('/')
  await page.getByLabel('Token').or(page.getByLabel('令牌')).fill(token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /^(Fleet|总览)$/ }).waitFor()
}

async function assertSound(
  { browser }: Pick<Scene, 'browser'>,
  page: Page,
  name: string,
): Promise<void> {
  await browser.picture(page, name)
  assert.deepEqual(await browser.accessibilityFindings(page), [], name)
  assert.deepEqual(browser.takeFaults(), [], name)
}

async function refusesToken({ browser }: Scene, page: Page): Promise<void> {
  browser.expect(/status of 401/)
  await page.goto('/console/')
  await page.getByLabel('Token').fill('wrong-token')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'does not know this token' }).waitFor()
  assert.equal(await page.getByLabel('Token').inputValue(), '')
  assert.deepEqual(await storedTexts(page), [])
  await assertSound({ browser }, page, 'login')
}

async function showsFleet({ browser, token }: Scene, page: Page): Promise<void> {
  await logIn(page, token)
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  browser.expect(undefined)
  await assertSound({ browser }, page, 'fleet')
  await page.getByRole('link', { name: 'Clusters', exact: true }).click()
  await page.getByRole('gridcell').filter({ hasText: 'edge' }).first().waitFor()
  await assertSound({ browser }, page, 'clusters')
}

async function keepsNoSecret({ token }: Scene, page: Page): Promise<void> {
  const texts = [...(await storedTexts(page)), page.url(), await page.content()]
  assert.ok(texts.every((text) => !text.includes(token)))
  assert.equal(await page.evaluate('document.cookie'), '')
  const cookies = await page.context().cookies()
  assert.deepEqual(
    cookies.map(({ name, httpOnly, secure, sameSite }) => [name, httpOnly, secure, sameSite]),
    [['__Host-skerry-session', true, true, 'Strict']],
  )
}

function storedTexts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    '[...Object.values(localStorage), ...Object.values(sessionStorage)]',
  )
}

async function showsCluster({ browser, cluster }: Scene, page: Page): Promise<void> {
  await page.goto('/console/clusters/edge')
  await page.getByText('ClusterReady').waitFor()
  await assertSound({ browser }, page, 'cluster')
  await page.getByRole('link', { name: 'Nodes', exact: true }).click()
  const [node] = cluster.nodes
  await page.getByRole('link', { name: node?.name ?? '', exact: true }).waitFor()
  await assertSound({ browser }, page, 'nodes')
  await page.getByRole('link', { name: 'Workloads' }).click()
  await page.getByRole('row').filter({ hasText: 'beacon' }).filter({ hasText: 'Running' }).waitFor()
  await assertSound({ browser }, page, 'workloads')
  await page.getByRole('link', { name: 'Tunnel' }).click()
  await page.getByText('Round trip').waitFor()
  await assertSound({ browser }, page, 'tunnel')
}

async function showsTexts({ browser, cloud }: Scene, page: Page): Promise<void> {
  await cloud.kubectl('label', 'node', '--all', `example.com/x=${hostileLabel.slice(0, 63)}`)
  await page.goto('/console/objects/edge/core/v1/configmaps/default/hostile')
  await page.getByText('<script>alert(1)</script>').waitFor()
  await assertSound({ browser }, page, 'hostile-yaml')
  await page.goto('/console/objects/edge/core/v1/pods/default/beacon/logs')
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
  assert.equal(await page.locator('main img, main script').count(), 0)
  await assertSound({ browser }, page, 'logs')
}

async function followsLog({ browser, cloud }: Scene, page: Page): Promise<void> {
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  const count = async (): Promise<number> => Number(/^\d+/.exec(await linesText(page))?.[0])
  const before = await count()
  await cloud.agent.kill()
  await page.getByText('goes on where it stopped').waitFor({ timeout: 60_000 })
  await cloud.agent.start()
  const grown = async (): Promise<true | undefined> =>
    (await count()) > before + 5 ? true : undefined
  await waitFor('the log to go on', grown, { timeoutMs: 90_000 })
  const texts = await page.locator('.log-line:not(.is-gap)').allInnerTexts()
  const numbers = texts.map((text) => Number(/flash (\d+)/.exec(text)?.[1]))
  const first = numbers[0] ?? NaN
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => first + index),
    'no line is lost or repeated',
  )
  browser.takeFaults()
  browser.expect(undefined)
}

function linesText(page: Page): Promise<string> {
  return page.getByText(/^\d+ lines/).innerText()
}

async function opensShell({ browser }: Scene, page: Page): Promise<void> {
  await page.goto('/console/objects/edge/core/v1/pods/default/beacon/shell')
  await page.locator('.xterm-helper-textarea').waitFor({ state: 'attached' })
  await page.locator('.xterm-rows').filter({ hasText: /[#$]/ }).waitFor()
  await page.keyboard.type('echo sum $((40+2)); stty size\n')
  await page.locator('.xterm-rows').filter({ hasText: 'sum 42' }).waitFor()
  await assertSound({ browser }, page, 'shell')
  await page.keyboard.type('exit 7\n')
  await page.getByRole('status').filter({ hasText: 'ended with 7' }).waitFor()
}

async function editsObject({ browser, cloud }: Scene, page: Page): Promise<void> {
  browser.expect(/status of 409/)
  const owned = `{apiVersion: v1, kind: ConfigMap, metadata: {name: hostile, namespace: default}, data: {owned: other}}`
  const apply = ['apply', '--server-side', '--force-conflicts', '--field-manager=pilot', '-f', '-']
  const applied = await cloud.tryKubectl(apply, { input: owned })
  assert.equal(applied.exitCode, 0, applied.stderr)
  await page.goto('/console/objects/edge/core/v1/configmaps/default/hostile')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.cm-line').filter({ hasText: 'owned: other' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type('-mine')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('alert').filter({ hasText: 'pilot' }).waitFor()
  await assertSound({ browser }, page, 'conflict')
  await page.getByRole('button', { name: 'take over these fields' }).click()
  await page.getByRole('button', { name: 'Apply and take over the fields' }).waitFor()
  await assertSound({ browser }, page, 'difference')
  await page.getByRole('button', { name: 'Apply and take over the fields' }).click()
  await page.getByText('owned: other-mine').waitFor()
  browser.expect(undefined)
}

/** The hub names the fault of a field while the form is filled in, and nothing is made. */
async function checksForm({ browser, cloud }: Scene, page: Page): Promise<void> {
  browser.expect(/status of 422/)
  await page.getByRole('link', { name: 'New edge cluster' }).click()
  await page.getByLabel('Name', { exact: true }).fill('shop-9')
  await page.getByLabel('Addresses', { exact: true }).fill('10.0.0.[11-12]')
  await page.getByLabel('Secret with the login').fill('shop-9-ssh')
  await page.getByLabel('Store').selectOption('Etcd')
  await page.getByText(/1 field to correct/).waitFor()
  await page.getByText(/✕ .*witness/i).waitFor()
  await page.getByLabel('Addresses', { exact: true }).fill('10.0.0.[11-13]')
  await page.getByLabel('Clients reach the masters').selectOption('VirtualIP')
  await page.getByLabel('Virtual IP or balancer').fill('10.0.0.12')
  await page.getByText(/✕ .*10\.0\.0\.12/).waitFor()
  await assertSound({ browser }, page, 'form-fault')
  await page.getByLabel('Virtual IP or balancer').fill('10.0.0.100')
  await page.getByText('The hub accepts this.').waitFor()
  await assertSound({ browser }, page, 'form')
  browser.expect(undefined)
  const made = await cloud.tryKubectl(['--server', cloud.server, 'get', 'edgeclusters', '-A'])
  assert.match(`${made.stdout}${made.stderr}`, /No resources found/)
}

async function seesAbsence({ browser, cloud }: Scene, page: Page): Promise<void> {
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  await page.goto('/console/')
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  await cloud.agent.kill()
  await page.getByRole('link', { name: 'edge: Away' }).waitFor({ timeout: 30_000 })
  await assertSound({ browser }, page, 'fleet-away')
  await page.getByRole('link', { name: 'edge: Away' }).click()
  await page.getByText('This is the last known state').waitFor()
  await assertSound({ browser }, page, 'cluster-away')
  await cloud.agent.start()
  await page
    .getByRole('main')
    .getByText('Ready', { exact: true })
    .first()
    .waitFor({ timeout: 60_000 })
  browser.takeFaults()
  browser.expect(undefined)
}

async function refusesStranger({ browser, cloud }: Scene): Promise<void> {
  browser.expect(/status of 40[13]/)
  const page = await browser.tab()
  await logIn(page, await tokenOf(cloud, 'bob', 'visitors'))
  await page.getByText('no cluster that you may see').waitFor()
  await page.goto('/console/objects/-/core/v1/secrets/kube-system/x')
  await page.getByText('You may not see this').waitFor()
  await page.getByText(/cannot get resource "secrets"/).waitFor()
  await assertSound({ browser }, page, 'forbidden')
  await page.context().close()
  browser.expect(undefined)
}

async function fitsPhone({ browser, token }: Scene): Promise<void> {
  browser.expect(/status of 401/)
  const viewport = { width: 390, height: 844 }
  const page = await browser.tab({ colorScheme: 'light', locale: 'zh-CN', viewport })
  await logIn(page, token)
  for (const [path, name] of [
    ['/console/', 'phone-fleet'],
    ['/console/clusters', 'phone-clusters'],
    ['/console/clusters/edge', 'phone-cluster'],
  ] as const) {
    await page.goto(path)
    await page.getByText('就绪').first().waitFor()
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(overflow <= viewport.width, `${name} is ${overflow} pixels wide`)
    await assertSound({ browser }, page, name)
  }
  await page.context().close()
  browser.expect(undefined)
}

/** A shell of another tab ends with the session, too. */
async function endsSession({ browser }: Scene, page: Page): Promise<void> {
  browser.expect(/status of 401|WebSocket/)
  const other = await page.context().newPage()
  await other.goto('/console/objects/edge/core/v1/pods/default/beacon/shell')
  await other.locator('.xterm-rows').waitFor()
  await page.getByRole('button', { name: 'alice' }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Token').waitFor()
  await other.getByText('connection to the shell broke').waitFor({ timeout: 12_000 })
  await other.reload()
  await other.getByLabel('Token').waitFor()
}
