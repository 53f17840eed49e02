/** Pods of a cluster behind its tunnel in the web console: tables, logs, shells and edits, with hostile texts in them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound, logIn, startConsoleScene, type ConsoleScene } from './console-scene.ts'
import { showsPlaces } from './places-pages.ts'
import { whyNot } from './prerequisites.ts'
import { waitFor } from './wait-for.ts'

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
apiVersion: apps/v1
kind: Deployment
metadata: { name: flood, namespace: default }
spec:
  replicas: 0
  selector: { matchLabels: { app: flood } }
  template:
    metadata: { labels: { app: flood } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: flood
          image: skerry-examples/guestbook:v1
          command: [sh, -c, 'n=0; while true; do seq $n $((n+199)); n=$((n+200)); sleep 0.1; done']
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
---
apiVersion: v1
kind: Event
metadata: { name: hostile, namespace: default }
involvedObject: { apiVersion: v1, kind: Pod, name: beacon, namespace: default }
type: Warning
reason: Odd
message: 'x"><img src=x onerror=alert(1)> \\u202egnp.exe'
`

/** Strings that would become markup, script or another layout if a page took them for more than texts. */
const hostileLabel = 'a-very-long-label-that-must-not-break-the-layout-of-any-page-0123'
const beacon = '/console/objects/edge/core/v1/pods/default/beacon'

test('pods in the web console', { skip: await whyNot(), timeout: 300_000 }, async (t) => {
  const siteFlags = async () => ['--edge-apps', 'superedge']
  await using scene = await startConsoleScene({ hasNode: true, cluster: { siteFlags } })
  const { cloud, browser, token } = scene
  const created = await cloud.tryKubectl(['apply', '-f', '-'], { input: manifest })
  assert.equal(created.exitCode, 0, created.stderr)
  browser.expect(/status of 401/)
  const page = await browser.tab()
  await logIn(page, token)
  browser.expect(undefined)
  await t.test('shows a cluster, its nodes and its pods', () => showsCluster(scene, page))
  await t.test('shows hostile texts as texts', () => showsTexts(scene, page))
  await t.test('follows a log over a cut tunnel', () => followsLog(scene, page))
  await t.test('follows three pods that write much, within bounds', () => followsFlood(scene, page))
  await t.test('opens a shell with an editor, in the size of the window', () =>
    opensShell(scene, page),
  )
  await t.test('says that a shell has ended with its hub, and opens it again', () =>
    reopensShell(scene, page),
  )
  await t.test('completes fields as the cluster has them, and underlines others', () =>
    completesFields(scene, page),
  )
  await t.test('shows the conflict of an edit, and its owner', () => editsObject(scene, page))
  await t.test('shows an application in many places, and where its traffic goes', () =>
    showsPlaces(scene, page),
  )
  await t.test('ends all tabs of a session that logs out', () => endsSession(scene, page))
})

async function showsCluster({ browser, cluster }: ConsoleScene, page: Page): Promise<void> {
  await page.goto('/console/clusters/edge')
  await page.getByText('ClusterReady').waitFor()
  await assertSound(browser, page, 'cluster')
  await page.getByRole('link', { name: 'Nodes', exact: true }).click()
  const [node] = cluster.nodes
  await page.getByRole('link', { name: node?.name ?? '', exact: true }).waitFor()
  await assertSound(browser, page, 'nodes')
  await page.getByRole('link', { name: 'Certificates' }).click()
  const renewed = page.getByRole('row').filter({ hasText: 'renews itself' })
  for (const program of ['API server', 'Agent', 'for logs and shells']) {
    await renewed.filter({ hasText: program }).first().waitFor()
  }
  await assertSound(browser, page, 'certificates')
  await page.getByRole('link', { name: 'Workloads' }).click()
  await page.getByRole('row').filter({ hasText: 'beacon' }).filter({ hasText: 'Running' }).waitFor()
  await assertSound(browser, page, 'workloads')
  await page.getByRole('link', { name: 'Tunnel' }).click()
  await page.getByText('Round trip', { exact: true }).waitFor()
  await assertSound(browser, page, 'tunnel')
}

async function showsTexts({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  await cloud.kubectl('label', 'node', '--all', `example.com/x=${hostileLabel.slice(0, 63)}`)
  await page.goto('/console/objects/edge/core/v1/configmaps/default/hostile')
  await page.getByText('<script>alert(1)</script>').waitFor()
  await assertSound(browser, page, 'hostile-yaml')
  await page.goto('/console/clusters/edge/events?q=odd')
  await page.getByRole('row').filter({ hasText: '<img src=x onerror=alert(1)>' }).waitFor()
  const widthPx = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert.ok(widthPx <= 1_280, `the page is ${widthPx} pixels wide`)
  await assertSound(browser, page, 'hostile-event')
  await page.goto(`${beacon}/logs`)
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
  assert.equal(await page.locator('main img, main script').count(), 0)
  await assertSound(browser, page, 'logs')
}

async function followsLog({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  const before = await countLines(page)
  await cloud.agent.kill()
  await page.getByText('goes on where it stopped').waitFor({ timeout: 60_000 })
  await cloud.agent.start()
  const grown = async (): Promise<true | undefined> =>
    (await countLines(page)) > before + 5 ? true : undefined
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

async function countLines(page: Page): Promise<number> {
  return Number(/^\d+/.exec(await page.getByText(/^\d+ lines/).innerText())?.[0])
}

/**
 * Each of the three writes up to 2,000 lines a second. The lines that a page keeps are bounded, none is lost among them, and
 * a reader who has paused it keeps the lines that are there.
 */
async function followsFlood({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  await cloud.kubectl('scale', 'deployment', 'flood', '--replicas=3')
  // Its containers are starting.
  browser.expect(/status of 400/)
  await page.goto('/console/objects/edge/apps/v1/deployments/default/flood/logs')
  await page.getByText(/older ones left out/).waitFor({ timeout: 60_000 })
  const names = new Set<string>()
  await waitFor('lines of all three', async () => {
    for (const [name] of await drawnLines(page)) names.add(name)
    return names.size === 3 ? true : undefined
  })
  browser.expect(undefined)
  const lastLine = async (): Promise<string> => String((await drawnLines(page)).at(-1))
  const followed = await lastLine()
  await waitFor('further lines', async () => ((await lastLine()) === followed ? undefined : true))
  const heap = await heapBytes(page)
  await page.getByRole('button', { name: 'Pause' }).click()
  const shown = await drawnLines(page)
  assertWhole(shown)
  await page.getByText(/[1-9]\d{4,} further lines/).waitFor({ timeout: 60_000 })
  assert.deepEqual(await drawnLines(page), shown)
  await assertSound(browser, page, 'logs-of-three')
  await page.getByRole('button', { name: 'Follow' }).click()
  await waitFor('the newest lines', async () =>
    String((await drawnLines(page)).at(-1)) === String(shown.at(-1)) ? undefined : true,
  )
  assertWhole(await drawnLines(page))
  const grownBytes = (await heapBytes(page)) - heap
  assert.ok(grownBytes < 10_000_000, `the page holds ${grownBytes} bytes more`)
  await cloud.kubectl('scale', 'deployment', 'flood', '--replicas=0')
}

/** Returns the lines that are drawn, each with the pod that wrote it. */
function drawnLines(page: Page): Promise<[source: string, text: string][]> {
  return page.evaluate(`[...document.querySelectorAll('.log-line')].map((line) => [
    line.querySelector('.log-source')?.textContent ?? '', line.lastElementChild?.textContent ?? ''])`)
}

/** The lines of each pod count up by one. */
function assertWhole(lines: readonly (readonly [source: string, text: string])[]): void {
  const last = new Map<string, number>()
  for (const [source, text] of lines) {
    const before = last.get(source) ?? Number(text) - 1
    assert.equal(Number(text), before + 1, `a line of ${source} is lost`)
    last.set(source, Number(text))
  }
}

/** Returns the size of the objects that the page still needs. */
async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

async function opensShell({ browser }: ConsoleScene, page: Page): Promise<void> {
  await page.goto(`${beacon}/shell`)
  const rows = page.locator('.xterm-rows')
  const until = (text: string | RegExp): Promise<void> => rows.filter({ hasText: text }).waitFor()
  await page.locator('.xterm-helper-textarea').waitFor({ state: 'attached' })
  await until(/[#$]/)
  await page.keyboard.type('echo sum $((40+2)); stty size\n')
  await until('sum 42')
  await assertSound(browser, page, 'shell')
  await page.keyboard.press('Shift+Escape')
  const left = await page.evaluate<string>('document.activeElement.textContent')
  assert.match(left, /leaves the terminal/)
  await page.locator('.xterm-screen').click()
  const before = await sizeOf(page)
  await page.setViewportSize({ width: 900, height: 600 })
  await waitFor('the terminal to have the size of the window', async () => {
    const now = await sizeOf(page)
    return now.columns < before.columns && now.rows < before.rows ? true : undefined
  })
  await page.keyboard.type('sleep 300\n')
  await until('sleep 300')
  await page.keyboard.press('Control+c')
  await page.keyboard.type('echo after $((1+1))\n')
  await until('after 2')
  await page.keyboard.type('cat > /tmp/note\n')
  await until('cat > /tmp/note')
  await page.keyboard.insertText('边缘 edge')
  await until('边缘 edge')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Control+d')
  await page.keyboard.type('clear; cat /tmp/note; wc -c < /tmp/note\n')
  // Two characters of three bytes, a space, four letters, and the end of the line.
  await until(/边缘 edge\s*12/)
  await page.keyboard.type('vi /tmp/note\n')
  await until('~')
  await assertSound(browser, page, 'shell-vi')
  await page.keyboard.type(':q!\n')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.keyboard.type('exit 7\n')
  await page.getByRole('status').filter({ hasText: 'ended with 7' }).waitFor()
}

async function reopensShell({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  await page.goto(`${beacon}/shell`)
  const rows = page.locator('.xterm-rows')
  await rows.filter({ hasText: /[#$]/ }).waitFor()
  await cloud.hub.kill()
  const lost = page.getByRole('status').filter({ hasText: 'Its program has been stopped' })
  await lost.waitFor()
  await assertSound(browser, page, 'shell-lost')
  await cloud.hub.start()
  await page.getByText('The hub has not answered').waitFor({ state: 'detached', timeout: 120_000 })
  await waitFor('the cluster to be reached', async () =>
    (await cloud.tryKubectl(['get', '--raw', '/readyz'])).stdout === 'ok' ? true : undefined,
  )
  await page.getByRole('button', { name: 'Open another shell' }).click()
  await lost.waitFor({ state: 'detached' })
  await rows.filter({ hasText: /[#$]/ }).waitFor()
  await page.keyboard.type('echo again $((40+2))\n')
  await rows.filter({ hasText: 'again 42' }).waitFor()
  browser.takeFaults()
  browser.expect(undefined)
}

/** Asks the program in the container. */
async function sizeOf(page: Page): Promise<{ rows: number; columns: number }> {
  await page.keyboard.type('clear; echo "size $(stty size)."\n')
  const rows = page.locator('.xterm-rows')
  await rows.filter({ hasText: /size \d+ \d+\./ }).waitFor()
  const [, height, width] = /size (\d+) (\d+)\./.exec(await rows.innerText()) ?? []
  return { rows: Number(height), columns: Number(width) }
}

/** The editor has the fields of that cluster's server, and says which ones the server would refuse. */
async function completesFields({ browser }: ConsoleScene, page: Page): Promise<void> {
  await page.goto('/console/objects/edge/apps/v1/deployments/default/flood')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.cm-line').filter({ hasText: 'replicas: 0' }).click()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.type('stratgy: {}')
  // The editor knows nothing before the cluster has answered.
  await page.getByRole('status').filter({ hasText: 'no field “spec.stratgy”' }).waitFor()
  await page.locator('.cm-finding').filter({ hasText: 'stratgy' }).waitFor()
  await assertSound(browser, page, 'unknown-field')
  await page.keyboard.press('Enter')
  await page.keyboard.type('minRea')
  const option = page.getByRole('option', { name: 'minReadySeconds' })
  await option.getByText('integer').waitFor()
  await page.getByText(/minimum number of seconds/i).waitFor()
  await assertSound(browser, page, 'completion')
  await option.click()
  await page.keyboard.type('5')
  await page.locator('.cm-line').filter({ hasText: 'minReadySeconds: 5' }).waitFor()
  await page.keyboard.press('Shift+Escape')
  assert.equal(await page.evaluate('document.activeElement.id'), 'editor-keys')
  await page.getByRole('button', { name: 'Discard' }).click()
}

async function editsObject({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
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
  await cloud.kubectl('annotate', 'configmap', 'hostile', 'meanwhile=changed')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('alert').filter({ hasText: 'pilot' }).waitFor()
  await assertSound(browser, page, 'conflict')
  await page.getByRole('button', { name: 'take over these fields' }).click()
  await page.getByRole('button', { name: 'Apply and take over the fields' }).waitFor()
  await page.getByText('The object was changed while you were editing').waitFor()
  await assertSound(browser, page, 'difference')
  await page.getByRole('button', { name: 'Apply and take over the fields' }).click()
  await page.getByText('owned: other-mine').waitFor()
  browser.expect(undefined)
}

/** A shell of another tab ends with the session, too. */
async function endsSession({ browser }: ConsoleScene, page: Page): Promise<void> {
  browser.expect(/status of 401|WebSocket/)
  const other = await page.context().newPage()
  await other.goto(`${beacon}/shell`)
  await other.locator('.xterm-rows').waitFor()
  await page.getByRole('button', { name: 'alice' }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Token').waitFor()
  // The shell is gone with its session, and the tab says so without a click.
  await other.getByLabel('Token').waitFor({ timeout: 12_000 })
  assert.equal(await other.locator('.xterm-rows').count(), 0)
}
