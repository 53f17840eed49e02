/** The web console in a real browser, against a real hub and site: the login, the fleet, and what breaks in it. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { connectsByPage } from './registration-pages.ts'
import { previewsPolicy, rollsOut, sendsPast } from './roll-out-pages.ts'
import { assertSound, logIn, startConsoleScene, type ConsoleScene } from './console-scene.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand } from './role-process.ts'
import { waitFor } from './wait-for.ts'

const secondSiteHost = 5

test('the fleet in the web console', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using scene = await startConsoleScene({ cloud: { flags: ['--apply-works'] } })
  const page = await scene.browser.tab()
  await t.test('refuses a wrong token, and keeps nothing of it', () => refusesToken(scene, page))
  await t.test('logs in with a token, and shows the fleet', () => showsFleet(scene, page))
  await t.test('keeps no credential where a script could read it', () => keepsNoSecret(scene, page))
  await t.test('speaks Chinese, in light colours, on a phone', () => fitsPhone(scene))
  await t.test('is used by keys alone', () => worksByKeys(page))
  await t.test('shows a list in the same order to others by its address', () => sharesAddress(page))
  await t.test(
    'keeps the entries of a form when another tab ends the session, until it is back',
    () => keepsDraft(scene, page),
  )
  const site = await startSite(scene)
  await t.test('rejects one agent and accepts another, by the fingerprint in its log', () =>
    connectSite(scene, page),
  )
  await t.test('shows other clusters while one hangs', () => outlivesHanging(scene, page, site))
  await t.test('makes a policy, and explains where it goes and which override wins', () =>
    rollsOut(scene, page, ['edge', 'stuck']),
  )
  await t.test('previews a changed policy, and does not apply it', () =>
    previewsPolicy(scene, page),
  )
  await t.test('says that a cluster is away', () => seesAbsence(scene, page))
  // The hub gives up on a cluster 40 s after its last report. These stories need that time anyway.
  await t.test('shows all of its pages without a fault, in both languages and colours', () =>
    showsAllPages(scene, page),
  )
  await t.test('checks the form of a cluster of several masters', () => checksForm(scene, page))
  await t.test(
    'sends a new version past a cluster that is away, which catches up when it is back',
    () => sendsPastAway(scene, page),
  )
  await t.test('keeps its contents while the hub is dead, and goes on after', () =>
    outlivesHub(scene, page),
  )
})

async function refusesToken({ browser }: ConsoleScene, page: Page): Promise<void> {
  browser.expect(/status of 401/)
  await page.goto('/console/')
  await page.getByLabel('Token').fill('wrong-token')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'does not know this token' }).waitFor()
  assert.equal(await page.getByLabel('Token').inputValue(), '')
  assert.deepEqual(await storedTexts(page), [])
  await assertSound(browser, page, 'login')
}

async function showsFleet({ browser, token }: ConsoleScene, page: Page): Promise<void> {
  await logIn(page, token)
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  browser.expect(undefined)
  await assertSound(browser, page, 'fleet')
  await page.getByRole('link', { name: 'Clusters', exact: true }).click()
  await page.getByRole('gridcell').filter({ hasText: 'edge' }).first().waitFor()
  await assertSound(browser, page, 'clusters')
}

async function keepsNoSecret({ token }: ConsoleScene, page: Page): Promise<void> {
  const texts = [
    ...(await storedTexts(page)),
    page.url(),
    await page.content(),
    await socketHandshake(page),
  ]
  assert.ok(texts.every((text) => !text.includes(token)))
  assert.equal(await page.evaluate('document.cookie'), '')
  const cookies = await page.context().cookies()
  assert.deepEqual(
    cookies.map(({ name, httpOnly, secure, sameSite }) => [name, httpOnly, secure, sameSite]),
    [['__Host-skerry-session', true, true, 'Strict']],
  )
}

/** Returns what the page sends when it opens its stream. */
async function socketHandshake(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const asked = new Promise<string>((resolve) =>
    session.once('Network.webSocketWillSendHandshakeRequest', ({ request }) =>
      resolve(JSON.stringify(request.headers)),
    ),
  )
  await page.reload()
  const headers = await asked
  await session.detach()
  assert.match(headers, /skerry\.watches/)
  return headers
}

function storedTexts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    '[...Object.values(localStorage), ...Object.values(sessionStorage)]',
  )
}

const markup = '"><img src=x onerror=alert(1)>'
/** Texts of others that would become markup, another order of letters, or another layout. */
const hostileCluster = {
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'odd', annotations: { note: markup } },
  spec: {
    syncMode: 'Pull',
    provider: 'a-provider-with-a-name-that-has-no-end-'.repeat(6),
    region: markup,
    zones: ['\u202egnp.exe'],
  },
}

/** Pages that others lead to. */
const furtherPages = [
  'clusters/odd',
  'clusters/stuck/add-nodes',
  'access/users',
  'access/who-can',
  'access/kubeconfig',
  'access/sessions',
  'new-job',
  'new-policy',
].map((path) => `/console/${path}`)

/** Every page that the navigation leads to, with a cluster in the fleet whose owner is hostile. */
async function showsAllPages(scene: ConsoleScene, page: Page): Promise<void> {
  const { browser, cloud, token } = scene
  const apply = ['--server', cloud.server, 'apply', '-f', '-']
  const made = await cloud.tryKubectl(apply, { input: JSON.stringify(hostileCluster) })
  assert.equal(made.exitCode, 0, made.stderr)
  browser.expect(/status of 401/)
  const other = await browser.tab({ colorScheme: 'light', locale: 'zh-CN' })
  await logIn(other, token)
  browser.expect(undefined)
  for (const [tab, colours] of [
    [page, 'en-dark'],
    [other, 'zh-light'],
  ] as const) {
    await tab.goto('/console/')
    await tab.getByRole('main').getByText(markup).first().waitFor()
    const paths = [...(await linkedPages(tab)), ...furtherPages]
    for (const [at, path] of paths.entries()) {
      await tab.goto(path)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      await tab.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      assert.equal(await tab.locator('main img, main script, main iframe').count(), 0, path)
      const widthPx = await tab.evaluate<number>('document.documentElement.scrollWidth')
      assert.ok(widthPx <= 1_280, `${path} is ${widthPx} pixels wide`)
      const name = `page-${colours}${path.replaceAll('/', '-')}`
      // A look for faults of access takes a second: each page gets one, in one of the two.
      if ((at % 2 === 0) === (tab === page)) await assertSound(browser, tab, name)
      else assert.deepEqual(browser.takeFaults(), [], name)
    }
  }
  await other.context().close()
}

function linkedPages(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('nav a')].map((link) => link.getAttribute('href'))`,
  )
}

/** The hub names the fault of a field while the form is filled in, and nothing is made. */
async function checksForm({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
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
  await assertSound(browser, page, 'form-fault')
  await page.getByLabel('Virtual IP or balancer').fill('10.0.0.100')
  await page.getByText('The hub accepts this.').waitFor()
  await assertSound(browser, page, 'form')
  browser.expect(undefined)
  const made = await cloud.tryKubectl(['--server', cloud.server, 'get', 'edgeclusters', '-A'])
  assert.match(`${made.stdout}${made.stderr}`, /No resources found/)
}

async function fitsPhone({ browser, token }: ConsoleScene): Promise<void> {
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
    await assertSound(browser, page, name)
  }
  for (const path of [
    'access/users',
    'clusters/edge/nodes',
    'clusters/edge/add-nodes',
    'new-job',
  ]) {
    await page.goto(`/console/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(overflow <= viewport.width, `${path} is ${overflow} pixels wide`)
    await browser.picture(page, `phone-${path.replaceAll('/', '-')}`)
  }
  await page.context().close()
  browser.expect(undefined)
}

async function worksByKeys(page: Page): Promise<void> {
  await page.goto('/console/')
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('audit')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  await page.goto('/console/access/sessions')
  const end = page.getByRole('button', { name: 'End', exact: true }).first()
  await end.waitFor()
  await tabTo(page, 'End')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(page, 'Cancel')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await focusedText(page), 'End')
  await page.goto('/console/clusters')
  await page.getByRole('row').filter({ hasText: 'edge' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('edge')
  await tabTo(page, 'grid')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'edge' }).waitFor()
  await page.goBack()
  await page.locator('[role=row][aria-selected=true]').filter({ hasText: 'edge' }).waitFor()
}

/** A link to a list shows others the same, and names that need escapes in an address are found. */
async function sharesAddress(page: Page): Promise<void> {
  await page.goto('/console/access/who-can?verb=get&resource=pods')
  for (const _ of ['up', 'down'])
    await page.getByRole('button', { name: 'Role', exact: true }).click()
  const row = page.getByRole('row').filter({ hasText: 'system:kube-scheduler' }).first()
  await row.getByRole('gridcell').first().click()
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other
    .getByRole('columnheader', { name: 'Role' })
    .and(other.locator('[aria-sort=descending]'))
    .waitFor()
  const chosen = other.locator('[role=row][aria-selected=true]')
  assert.equal(await chosen.innerText(), await row.innerText())
  await chosen.getByRole('link', { name: 'system:kube-scheduler' }).last().click()
  await other.getByText('kind: ClusterRole').waitFor()
  await other.close()
}

async function keepsDraft({ browser, token }: ConsoleScene, page: Page): Promise<void> {
  browser.expect(/status of 401|WebSocket/)
  await page.goto('/console/new-policy')
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('half-done')
  const other = await page.context().newPage()
  await other.goto('/console/')
  await other.getByRole('button', { name: 'alice' }).click()
  await other.getByRole('button', { name: 'Log out' }).click()
  const note = page.getByText('keeps your entries')
  await note.waitFor()
  await assertSound(browser, page, 'session-ended')
  await logIn(other, token)
  // The browser says so when somebody comes back to a tab.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await note.waitFor({ state: 'detached' })
  assert.equal(await name.inputValue(), 'half-done')
  await other.close()
  browser.takeFaults()
  browser.expect(undefined)
}

/** Presses Tab until something with this text, or of this role, has the focus. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if ((await focusedText(page)) === wanted) return
  }
  assert.fail(`Tab does not lead to ${wanted}`)
}

function focusedText(page: Page): Promise<string> {
  return page.evaluate<string>(
    `document.activeElement.getAttribute('role') ?? document.activeElement.textContent`,
  )
}

/** One stream carries all that a tab watches, and a cluster that never answers may hold up no other. */
async function outlivesHanging(scene: ConsoleScene, page: Page, site: RoleProcess): Promise<void> {
  const { browser, cloud } = scene
  browser.expect(/status of 50\d/)
  // Its connections and its tunnel stay open, and nothing answers.
  process.kill(site.pid, 'SIGSTOP')
  await page.goto('/console/clusters/stuck/nodes')
  await page.getByRole('heading', { level: 1, name: 'stuck' }).waitFor()
  await page.getByRole('main').locator('[aria-busy=true]').waitFor()
  await page.getByRole('link', { name: 'Clusters', exact: true }).first().click()
  const startMs = performance.now()
  await page.getByRole('link', { name: 'edge', exact: true }).click()
  await page.getByRole('link', { name: 'All kinds', exact: true }).click()
  await page.getByLabel('Kind').selectOption('namespaces')
  await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
  const tookMs = performance.now() - startMs
  assert.ok(tookMs < 10_000, `the other cluster took ${Math.round(tookMs)} ms`)
  await cloud.kubectl('create', 'namespace', 'while-stuck')
  await page.getByRole('row').filter({ hasText: 'while-stuck' }).waitFor()
  process.kill(site.pid, 'SIGCONT')
  browser.takeFaults()
  browser.expect(undefined)
}

function stuckKubeconfig({ directory }: ConsoleScene['cluster']): string {
  return join(directory, 'stuck', 'site', 'admin.kubeconfig')
}

/** Starts a further site. It needs neither nodes nor controllers here. */
async function startSite({ cluster }: ConsoleScene): Promise<RoleProcess> {
  const own = ['--data-dir', join(cluster.directory, 'stuck', 'site')]
  const without = ['--disable-controller-manager', '--disable-scheduler']
  const site = new RoleProcess({
    host: await cluster.host(secondSiteHost),
    name: 'stuck-site',
    command: [...skerryCommand, 'site', ...own, ...without],
    logFile: join(cluster.directory, 'stuck-site.log'),
  })
  cluster.roles.push(site)
  await site.start()
  return site
}

async function connectSite(scene: ConsoleScene, page: Page): Promise<void> {
  const { cluster } = scene
  const kubeconfig = stuckKubeconfig(cluster)
  await cluster.waitFor('the other site', () => readFile(kubeconfig, 'utf8'))
  const host = await cluster.host(secondSiteHost)
  await connectsByPage(scene, page, { name: 'stuck', host, kubeconfig })
  await page.goto('/console/')
  await page.getByRole('link', { name: 'stuck: Ready' }).waitFor({ timeout: 60_000 })
}

async function seesAbsence(scene: ConsoleScene, page: Page): Promise<void> {
  const { browser, cloud } = scene
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  await page.goto('/console/')
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  await cloud.agent.kill()
  await page.getByRole('link', { name: 'edge: Away' }).waitFor({ timeout: 30_000 })
  await assertSound(browser, page, 'fleet-away')
  await page.getByRole('link', { name: 'edge: Away' }).click()
  await page.getByText('This is the last known state').waitFor()
  const age = page.locator('.mark-note time')
  const before = await age.innerText()
  await waitFor('the age to count', async () =>
    (await age.innerText()) === before ? undefined : true,
  )
  assert.equal(await page.locator('.freshness.tone-ok').count(), 0, 'something looks live')
  await assertSound(browser, page, 'cluster-away')
  browser.takeFaults()
  browser.expect(undefined)
}

async function sendsPastAway(scene: ConsoleScene, page: Page): Promise<void> {
  const { browser, cloud, cluster } = scene
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  await sendsPast(scene, page)
  const [kubectl = ''] = cluster.kubectlCommand([])
  const host = await cluster.host(secondSiteHost)
  const prices = ['get', 'configmap', 'prices', '-n', 'shop', '-o', 'yaml']
  await untilDear(async () => {
    const command = [kubectl, '--kubeconfig', stuckKubeconfig(cluster), ...prices]
    return (await host.run(command)).stdout
  })
  await page.goto('/console/clusters/edge')
  const state = (word: string) => page.getByRole('main').getByText(word, { exact: true }).first()
  await state('Away').waitFor()
  // The page is not loaded again.
  await cloud.agent.start()
  await state('Away').waitFor({ state: 'detached', timeout: 120_000 })
  await page.getByText('ClusterReady').waitFor({ timeout: 120_000 })
  await untilDear(() => cloud.kubectl(...prices))
  browser.takeFaults()
  browser.expect(undefined)
}

async function untilDear(read: () => Promise<string>): Promise<void> {
  const look = async (): Promise<true | undefined> =>
    (await read()).includes('apple: dear') ? true : undefined
  await waitFor('the new version', look, { timeoutMs: 120_000 })
}

/** The session outlives the hub's process, and so does what the page shows. */
async function outlivesHub({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  browser.expect(/status of 50\d|ERR_|net::|WebSocket/)
  await page.goto('/console/')
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor()
  const before = await page.getByRole('link', { name: /^edge: / }).count()
  await cloud.hub.kill()
  await page.getByText('The hub has not answered').waitFor()
  assert.equal(await page.getByRole('link', { name: /^edge: / }).count(), before)
  await assertSound(browser, page, 'hub-away')
  await cloud.hub.start()
  await page.getByText('The hub has not answered').waitFor({ state: 'detached', timeout: 60_000 })
  await page.getByRole('link', { name: 'edge: Ready' }).waitFor({ timeout: 60_000 })
  assert.equal(await page.getByRole('link', { name: /^edge: / }).count(), before)
  await assertSound(browser, page, 'hub-back')
  browser.expect(undefined)
}
