/** An application of the fleet on the pages of the console: its policy, its explanation, and its waves. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { assertSound, hubKubectl, type ConsoleScene } from './console-scene.ts'

const override = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'OverridePolicy',
  metadata: { name: 'harbour', namespace: 'shop' },
  spec: {
    resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'prices' }],
    overrideRules: [
      {
        targetCluster: { clusterNames: ['edge'] },
        overriders: { labelsOverrider: [{ operator: 'add', value: { place: 'harbour' } }] },
      },
    ],
  },
}

const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'prices', namespace: 'shop' },
    data: { apple: '"><img src=x onerror=alert(1)>' },
  },
  override,
]

/** Makes a policy by its form, which shows the clusters before anything is made, and looks at what became of it. */
export async function rollsOut(
  scene: ConsoleScene,
  page: Page,
  [first, second]: readonly [string, string],
): Promise<void> {
  const { browser, cloud } = scene
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const atHub = ['--server', cloud.server]
  const made = await cloud.tryKubectl([...atHub, 'apply', '-f', '-'], { input: list })
  assert.equal(made.exitCode, 0, made.stderr)
  await hubKubectl(cloud, 'label', 'cluster', first, 'stage=pilot')
  await page.goto('/console/new-policy')
  await page.getByLabel('Name', { exact: true }).fill('prices')
  await page.getByLabel('Namespace', { exact: true }).fill('shop')
  await page.getByLabel('Kinds').fill('v1/ConfigMap')
  await page.getByLabel('Name of the object').fill('prices')
  await page.getByLabel('Names of clusters').fill(`${first}, ${second}`)
  await page.getByLabel('Waves', { exact: true }).fill('stage=pilot')
  await page.getByText('It goes to 2 clusters').waitFor()
  await assertSound(browser, page, 'policy-form')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'prices' }).waitFor()
  await page.goto('/console/applications/shop/prices-configmap')
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  for (const name of [first, second]) {
    await row(name).filter({ hasText: 'Healthy' }).waitFor({ timeout: 60_000 })
  }
  await row(first).filter({ hasText: 'harbour' }).waitFor()
  assert.equal(await row(second).filter({ hasText: 'harbour' }).count(), 0)
  await assertSound(browser, page, 'application')
}

/** A change of the policy shows its difference and its clusters before it is made; then it is thrown away. */
export async function previewsPolicy({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  await page.goto('/console/policies/PropagationPolicy/shop/prices/yaml')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.cm-line').filter({ hasText: 'clusterAffinity:' }).click()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.type('  exclude: [edge]')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).waitFor()
  await page.getByText('It goes to 1 cluster', { exact: true }).waitFor()
  await assertSound(browser, page, 'policy-difference')
  await page.getByRole('button', { name: 'Discard' }).click()
  const policy = ['get', 'propagationpolicy', 'prices', '-n', 'shop', '-o', 'yaml']
  assert.doesNotMatch(await hubKubectl(cloud, ...policy), /exclude/)
}

/** Sends another version while the cluster of the first wave is away, which the page says. */
export async function sendsPast({ browser, cloud }: ConsoleScene, page: Page): Promise<void> {
  const patch = ['--type', 'merge', '--patch', '{"data":{"apple":"dear"}}']
  await hubKubectl(cloud, 'patch', 'configmap', 'prices', '-n', 'shop', ...patch)
  await page.goto('/console/applications/shop/prices-configmap/waves')
  await page.getByText('Not counted.').waitFor({ timeout: 120_000 })
  await assertSound(browser, page, 'waves-away')
}
