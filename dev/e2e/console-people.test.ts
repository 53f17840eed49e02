/** People in the web console: a login at an issuer, and the pages of users with few rights. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestHost } from '@skerry/testing'
import {
  assertSound,
  hubKubectl,
  logIn,
  startConsoleScene,
  tokenOf,
  type ConsoleScene,
} from './console-scene.ts'
import { whyNot } from './prerequisites.ts'

/** Without nodes, so that its pods stay pending: rights do not depend on that. */
const manifest = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: Pod
metadata: { name: till, namespace: shop }
spec: { containers: [{ name: till, image: skerry-examples/guestbook:v1 }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: prices, namespace: shop }
data: { apple: cheap }
`

test('people in the web console', { skip: await whyNot(), timeout: 300_000 }, async (t) => {
  await using scene = await startConsoleScene({ hubFlags: startIssuer })
  await giveRights(scene)
  await t.test('a person logs in at the issuer, and comes back to the deep link', () =>
    logsInAtIssuer(scene),
  )
  await t.test(
    'a login that fails at the issuer says so, and the next leads to the same page',
    () => failsAtIssuer(scene),
  )
  await t.test('the missing right is named to a user without rights', () => refusesStranger(scene))
  await t.test('a reader gets no buttons that write, and is refused by a forced address', () =>
    guardsReader(scene),
  )
  await t.test('a reader of the hub gets no button that changes anything on its own pages', () =>
    guardsHub(scene),
  )
  await t.test('a user of one namespace works without listing namespaces', () =>
    servesNamespace(scene),
  )
})

/** Starts an issuer on the hub's host. Resolves with the flags by which the hub trusts it. */
async function startIssuer(host: TestHost, directory: string): Promise<readonly string[]> {
  const script = join(import.meta.dirname, 'issuer-process.ts')
  const person = ['dora', 'admins']
  const issuer = host.start([process.execPath, script, host.address, ...person], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.ok(issuer.stdout)
  const [line] = await once(issuer.stdout, 'data')
  // The script's own output.
  const facts = JSON.parse(String(line)) as { url: string; ca: string; clientId: string }
  const caFile = join(directory, 'issuer-ca.pem')
  await writeFile(caFile, facts.ca)
  const issuerFlags = ['--oidc-issuer-url', facts.url, '--oidc-ca-file', caFile]
  const names = ['--oidc-username-prefix', '-', '--oidc-groups-claim', 'groups']
  const client = ['--oidc-client-id', facts.clientId, '--login-client-id', facts.clientId]
  return [...issuerFlags, ...names, ...client, '--oidc-signing-algs', 'ES256']
}

/** Readers see everything in the cluster; clerks have one namespace of it. */
async function giveRights({ cluster, cloud }: ConsoleScene): Promise<void> {
  await cluster.apply(manifest)
  const binding = ['create', 'clusterrolebinding', 'readers', '--clusterrole=view']
  await cloud.kubectl(...binding, '--group=readers')
  const own = ['create', 'rolebinding', 'clerks', '--clusterrole=edit', '--group=clerks']
  await cloud.kubectl(...own, '--namespace=shop')
  for (const [group, verbs] of [
    ['readers', ['get', 'list', 'watch']],
    ['clerks', ['get', 'list', 'watch', 'create', 'patch']],
  ] as const) {
    const access = {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterAccess',
      metadata: { name: group },
      spec: { subjects: [{ kind: 'Group', name: group }], clusterSelector: {}, verbs },
    }
    const file = join(cluster.directory, `${group}.json`)
    await writeFile(file, JSON.stringify(access))
    await hubKubectl(cloud, 'apply', '-f', file)
  }
}

const prices = '/console/objects/edge/core/v1/configmaps/shop/prices'

async function logsInAtIssuer({ browser }: ConsoleScene): Promise<void> {
  browser.expect(/status of 401/)
  const page = await browser.tab()
  await page.goto(`${prices}?from=link`)
  await page.getByRole('link', { name: /10\.99\./ }).click()
  await page.getByText('apple: cheap').waitFor()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, `${prices}?from=link`)
  await page.getByRole('button', { name: 'dora' }).waitFor()
  await assertSound(browser, page, 'issuer')
  await page.context().close()
  browser.expect(undefined)
}

async function failsAtIssuer({ browser }: ConsoleScene): Promise<void> {
  browser.expect(/status of 401/)
  const page = await browser.tab()
  await page.goto(prices)
  const link = page.getByRole('link', { name: /10\.99\./ })
  await link.waitFor()
  // The way back from an issuer whose page somebody has cancelled.
  await page.goto(`/hub/v1/session/callback?error=access_denied&state=x`)
  await page.getByRole('alert').filter({ hasText: 'began in another browser' }).waitFor()
  await page.goto(`/console/login?problem=issuer&return=${encodeURIComponent(prices)}`)
  await page.getByRole('alert').filter({ hasText: 'cancelled or refused' }).waitFor()
  await assertSound(browser, page, 'issuer-failed')
  await link.click()
  await page.getByText('apple: cheap').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  await page.context().close()
  browser.expect(undefined)
}

async function openAs({ browser, cloud }: ConsoleScene, user: string, group: string) {
  browser.expect(/status of 40[13]/)
  const page = await browser.tab()
  await logIn(page, await tokenOf(cloud, user, group))
  return page
}

async function refusesStranger(scene: ConsoleScene): Promise<void> {
  const { browser } = scene
  const page = await openAs(scene, 'bob', 'visitors')
  await page.getByText('no cluster that you may see').waitFor()
  await page.goto('/console/objects/-/core/v1/secrets/kube-system/x')
  await page.getByText('You may not see this').waitFor()
  await page.getByText(/cannot get resource "secrets"/).waitFor()
  await assertSound(browser, page, 'forbidden')
  await leave(scene, page)
}

async function guardsReader(scene: ConsoleScene): Promise<void> {
  const { browser, cloud } = scene
  const page = await openAs(scene, 'rita', 'readers')
  await page.getByRole('link', { name: /^edge: / }).waitFor()
  await page.goto(prices)
  await page.getByText('apple: cheap').waitFor()
  await page.getByRole('button', { name: 'Copy' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0)
  await assertSound(browser, page, 'reader')
  const pod = '/console/objects/edge/core/v1/pods/shop/till'
  await page.goto(`${pod}/shell`)
  await page.getByText('image: skerry-examples/guestbook:v1').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Shell' }).count(), 0)
  assert.equal(await page.locator('.terminal').count(), 0)
  await page.goto('/console/objects/edge/core/v1/secrets/kube-system/x')
  await page.getByText('You may not see this').waitFor()
  await leave(scene, page)
  assert.match(
    await cloud.kubectl('get', 'configmap', 'prices', '-n', 'shop', '-o', 'yaml'),
    /cheap/,
  )
}

/** Every user reads the same; buttons that write are for those who have the right. */
async function guardsHub(scene: ConsoleScene): Promise<void> {
  const { browser, cloud } = scene
  const kinds = ['edgeclusters.hub.skerry.io', 'edgejobs.hub.skerry.io', 'secrets']
  const policies = ['propagationpolicies.policy.karmada.io', 'certificatesigningrequests']
  const resources = [...kinds, ...policies].join(',')
  const role = ['create', 'clusterrole', 'lookers', '--verb=get,list,watch']
  await hubKubectl(cloud, ...role, `--resource=${resources}`)
  const binding = ['create', 'clusterrolebinding', 'lookers', '--clusterrole=lookers']
  await hubKubectl(cloud, ...binding, '--group=readers')
  const page = await openAs(scene, 'ruth', 'readers')
  for (const path of [
    'edge-clusters',
    'jobs',
    'policies',
    'connect',
    'access/users',
    'clusters/edge/add-nodes',
  ]) {
    await page.goto(`/console/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle')
    assert.equal(await page.locator('main .button.is-main, main .button.is-bad').count(), 0, path)
    await browser.picture(page, `reader-${path.replaceAll('/', '-')}`)
  }
  await page.getByText('You may look at this').first().waitFor()
  await leave(scene, page)
}

async function servesNamespace(scene: ConsoleScene): Promise<void> {
  const { browser, cloud } = scene
  const page = await openAs(scene, 'nora', 'clerks')
  await page.goto('/console/clusters/edge/workloads')
  await page.getByText('You may not see this').waitFor()
  await page.getByLabel('Namespace').fill('shop')
  await page.getByRole('row').filter({ hasText: 'till' }).waitFor()
  await assertSound(browser, page, 'namespace')
  await page.goto(prices)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.cm-line').filter({ hasText: 'apple: cheap' }).click()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.type('pear: dear')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('pear: dear').waitFor()
  assert.match(
    await cloud.kubectl('get', 'configmap', 'prices', '-n', 'shop', '-o', 'yaml'),
    /pear: dear/,
  )
  await leave(scene, page)
}

async function leave({ browser }: ConsoleScene, page: Page): Promise<void> {
  await page.context().close()
  browser.takeFaults()
  browser.expect(undefined)
}
