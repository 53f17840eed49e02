import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { TestHost } from '@skerry/testing'
import { startCloud, type Cloud, type CloudOptions } from './cloud.ts'
import { ClusterOnHosts, type ClusterOptions } from './cluster-on-hosts.ts'
import { ConsoleBrowser } from './console-browser.ts'

const launcher = join(import.meta.dirname, '../../skerry')
const nodeHostNumber = 1
const hubHostNumber = 3
const browserHostNumber = 4

export interface ConsoleSceneOptions {
  readonly cluster?: ClusterOptions
  readonly cloud?: CloudOptions
  readonly hasNode?: boolean
  /** Further flags of the hub, whose host is there already. */
  readonly hubFlags?: (host: TestHost, directory: string) => Promise<readonly string[]>
}

/** A hub with one cluster, and a browser on a host of its own. */
export interface ConsoleScene extends AsyncDisposable {
  readonly cluster: ClusterOnHosts
  readonly cloud: Cloud
  readonly browser: ConsoleBrowser
  /** The token of alice, who may do everything at the hub and in the cluster. */
  readonly token: string
}

export async function startConsoleScene(options: ConsoleSceneOptions = {}): Promise<ConsoleScene> {
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await ClusterOnHosts.start(options.cluster))
  const hubFlags = await options.hubFlags?.(await cluster.host(hubHostNumber), cluster.directory)
  const cloud = await startCloud(cluster, {
    hubCommand: [launcher],
    hostNumber: hubHostNumber,
    hubFlags: hubFlags ?? [],
    ...options.cloud,
  })
  const host = await cluster.host(browserHostNumber)
  const browser = stack.use(await ConsoleBrowser.start(host, cloud.server))
  await Promise.all([
    options.hasNode === true ? cluster.addNode(nodeHostNumber) : undefined,
    giveRights(cloud),
  ])
  const token = await tokenOf(cloud, 'alice', 'admins')
  const owned = stack.move()
  return { cluster, cloud, browser, token, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Makes a group administrator of the hub and of the cluster. */
async function giveRights(cloud: Cloud): Promise<void> {
  const binding = ['create', 'clusterrolebinding', 'admins', '--clusterrole=cluster-admin']
  await cloud.kubectl(...binding, '--group=admins')
  await hubKubectl(cloud, ...binding, '--group=admins')
}

/** Makes a token with which a cluster of this name registers. Resolves with the file of it, and the hub's hash. */
export async function joinToken(
  { cluster, cloud }: Pick<ConsoleScene, 'cluster' | 'cloud'>,
  name: string,
): Promise<{ tokenFile: string; caHash: string }> {
  const where = ['--data-dir', cloud.directory, '--server', cloud.server, '-o', 'json']
  const printed = await cloud.skerry('cluster', 'join-command', name, ...where)
  // The program's own output.
  const { token, caHash } = JSON.parse(printed) as { token: string; caHash: string }
  const tokenFile = join(cluster.directory, `${name}.token`)
  await writeFile(tokenFile, token)
  return { tokenFile, caHash }
}

/** Runs kubectl as the hub's administrator. */
export async function hubKubectl(cloud: Cloud, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cloud.tryKubectl(['--server', cloud.server, ...args])
  assert.equal(exitCode, 0, `kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Makes a user of the hub. Resolves with its token. */
export async function tokenOf(cloud: Cloud, user: string, ...groups: string[]): Promise<string> {
  const flags = groups.flatMap((group) => ['--group', group])
  const where = ['--data-dir', cloud.directory, '-o', 'json']
  const printed = await cloud.skerry('user', 'add', user, ...flags, ...where)
  // The program's own output.
  return (JSON.parse(printed) as { token: string }).token
}

export async function logIn(page: Page, token: string): Promise<void> {
  await page.goto('/')
  await page.getByLabel('Token').or(page.getByLabel('令牌')).fill(token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /^(Fleet|总览)$/ }).waitFor()
}

/** Takes a picture; asserts that axe finds nothing, and that neither console nor policy complained. */
export async function assertSound(browser: ConsoleBrowser, page: Page, name: string) {
  await browser.picture(page, name)
  assert.deepEqual(await browser.accessibilityFindings(page), [], name)
  assert.deepEqual(browser.takeFaults(), [], name)
}
