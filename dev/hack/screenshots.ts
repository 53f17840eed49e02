/**
 * Takes the pictures of the web console in docs/images/console, in dark and light colours, from a hub with some sites
 * that run: node dev/hack/screenshots.ts [name...]
 * Needs root and what the end-to-end tests need. Names choose pictures; if omitted, all are taken.
 */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { Page } from 'playwright-core'
import {
  hubKubectl,
  joinToken,
  logIn,
  startConsoleScene,
  type ConsoleScene,
} from '../e2e/console-scene.ts'
import { whyNot } from '../e2e/prerequisites.ts'
import { RoleProcess, skerryCommand } from '../e2e/role-process.ts'
import { smallPng } from './screenshots/small-png.ts'

const root = join(import.meta.dirname, '../..')
const pictures = join(root, 'docs/images/console')
const bytesMax = 150_000

interface Shop {
  readonly name: string
  readonly region: string
  readonly zone: string
  /** Ended before the pictures are taken. */
  readonly isAway?: boolean
}

/** Sites without nodes, next to the one of the scene. */
const shops: readonly Shop[] = [
  { name: 'bergen', region: 'west', zone: 'coast' },
  { name: 'stavanger', region: 'west', zone: 'coast', isAway: true },
  { name: 'tromso', region: 'north', zone: 'arctic' },
  { name: 'alta', region: 'north', zone: 'arctic' },
]
const firstShopHost = 10

interface Picture {
  readonly name: string
  readonly path: string
  /** Waits until the page shows what the picture is of. */
  readonly ready: (page: Page) => Promise<unknown>
}

const web = '/console/objects/edge/apps/v1/deployments/guestbook/web'

const all: readonly Picture[] = [
  {
    name: 'fleet',
    path: '/console/',
    ready: (page) => page.getByRole('link', { name: 'stavanger: Away' }).waitFor(),
  },
  {
    name: 'clusters',
    path: '/console/clusters',
    ready: (page) =>
      page.getByRole('row').filter({ hasText: 'harbour' }).filter({ hasText: '%' }).waitFor(),
  },
  {
    name: 'cluster',
    path: '/console/clusters/edge',
    ready: (page) => page.getByText(/^[1-9]\d* \/ 110$/).waitFor(),
  },
  {
    name: 'workloads',
    path: '/console/clusters/edge/workloads?namespace=guestbook',
    ready: (page) => page.getByRole('row').filter({ hasText: 'Running' }).nth(2).waitFor(),
  },
  {
    name: 'logs',
    path: `${web}/logs`,
    ready: (page) => page.locator('.log-line').first().waitFor(),
  },
  {
    name: 'edit',
    path: web,
    ready: editReplicas,
  },
]

async function main(): Promise<void> {
  const why = await whyNot()
  if (why !== false) {
    throw new ExpectedError(`Cannot take pictures: ${why}`, exitCodes.missingDependency)
  }
  const names = process.argv.slice(2)
  const chosen = all.filter(({ name }) => names.length === 0 || names.includes(name))
  await mkdir(pictures, { recursive: true })
  await using scene = await startConsoleScene({
    hasNode: true,
    cloud: { flags: ['--region', 'south', '--zone', 'harbour', '--label', 'size=large'] },
  })
  await openShops(scene)
  await runGuestbook(scene)
  for (const colorScheme of ['dark', 'light'] as const) {
    const page = await scene.browser.tab({ colorScheme })
    await logIn(page, scene.token)
    for (const { name, path, ready } of chosen) {
      await page.goto(path)
      await ready(page)
      await takePicture(page, `${name}-${colorScheme}.png`)
    }
    await page.context().close()
  }
}

async function openShops(scene: ConsoleScene): Promise<void> {
  for (const [at, { name, region, zone, isAway }] of shops.entries()) {
    const { cluster, cloud } = scene
    const host = await cluster.host(firstShopHost + at)
    const { tokenFile, caHash } = await joinToken(scene, name)
    const toHub = ['--hub', cloud.server, '--hub-token-file', tokenFile, '--hub-ca-hash', caHash]
    const own = ['--name', name, '--data-dir', join(cluster.directory, name)]
    const place = ['--region', region, '--zone', zone, '--label', 'size=small']
    const role = new RoleProcess({
      host,
      name,
      command: [...skerryCommand, 'site', ...own, ...place, ...toHub],
      logFile: join(cluster.directory, `${name}.log`),
    })
    cluster.roles.push(role)
    await role.start()
    await untilConnected(scene, name)
    if (isAway) await role.kill()
  }
}

async function untilConnected({ cluster, cloud }: ConsoleScene, name: string): Promise<void> {
  await cluster.waitFor(`${name} to connect`, async () => {
    const path = '{.status.conditions[?(@.type=="Ready")].status}'
    const wanted = ['get', 'clusters.cluster.karmada.io', name, '-o', `jsonpath=${path}`]
    return (await hubKubectl(cloud, ...wanted)) === 'True' ? true : undefined
  })
}

async function runGuestbook({ cluster, cloud }: ConsoleScene): Promise<void> {
  const manifest = join(root, 'examples/guestbook/guestbook.yaml')
  // The manager that the console has, so that an edit conflicts with nobody.
  const asConsole = ['--server-side', '--field-manager=skerry-console']
  await cloud.kubectl('apply', ...asConsole, '-f', manifest)
  const rollout = ['-n', 'guestbook', 'rollout', 'status', 'deployment/web', '--timeout=120s']
  await cloud.kubectl(...rollout)
  const [node] = cluster.nodes
  assert.ok(node)
  // Requests, whose lines the log shows.
  const url = `http://${node.host.address}:30080/cgi-bin/page`
  for (let visit = 0; visit < 20; visit += 1) await node.host.run(['busybox', 'wget', '-qO-', url])
}

/** Changes the number of replicas as far as the difference before it is applied. */
async function editReplicas(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click()
  const line = page.locator('.cm-line').filter({ hasText: /^ {2}replicas: / })
  await line.click()
  await page.keyboard.press('End')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('5')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).waitFor()
  await page.locator('.cm-line').filter({ hasText: 'replicas: 5' }).first().waitFor()
}

async function takePicture(page: Page, name: string): Promise<void> {
  const path = join(pictures, name)
  const large = await page.screenshot({ animations: 'disabled' })
  const png = smallPng(large)
  assert.ok(png.length <= bytesMax, `${name} has ${png.length} bytes, at most ${bytesMax}`)
  const before = await readFile(path).catch(() => undefined)
  if (before?.equals(png) !== true) await writeFile(path, png)
  console.log(`${name}: ${Math.ceil(png.length / 1_000)} kB`)
}

await main()
