/**
 * Takes a picture of each page of the web console in each of its states, for people to look at, and says what axe, the
 * browser's console and the width of the page have against it:
 *   node dev/hack/console-states.ts [--states loading,away] [--pages fleet,jobs] [--language zh-CN] [--width 390] [--light]
 * In the state `hostile` every text of every answer has markup in it, and pages are also opened at addresses that somebody made
 * up. With --addresses, each list is filtered, sorted and walked, and must look the same in another tab at its address. The hub and its cluster are in this process, in a network namespace without a way out. Needs root and Chromium.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { chromium, type Browser, type Page } from 'playwright-core'
import { openTestBrowser, type TestBrowser } from '../../testing/scenes/test-browser.ts'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { buildConsole } from '../build/console.ts'
import { fillHub } from './console-states/filled-hub.ts'
import { hostileAddresses, reportViolations, traces } from './console-states/hostile-page.ts'
import { pages } from './console-states/pages-table.ts'
import { pageStates, prepareState, type PageState } from './console-states/page-states.ts'
import { compareAddresses } from './console-states/shared-addresses.ts'

const root = join(import.meta.dirname, '../..')
const pictures = join(root, 'node_modules/.cache/console-states')
const inNamespace = 'SKERRY_CONSOLE_STATES'
/** How long a page may take to show its state, which is nothing that could be waited for in each of them. */
const settledMs = 900

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: pageStates.join(',') },
    pages: { type: 'string', default: Object.keys(pages).join(',') },
    language: { type: 'string', default: 'en-GB' },
    width: { type: 'string', default: '1000' },
    light: { type: 'boolean', default: false },
    addresses: { type: 'boolean', default: false },
  },
})

interface Scene {
  readonly hub: TestHub
  readonly browser: Browser
  readonly admin: TestBrowser
  readonly axe: string
  /** The findings, as lines. */
  readonly findings: string[]
}

async function main(): Promise<void> {
  await mkdir(pictures, { recursive: true })
  const bundle = await mkdtemp(join(tmpdir(), 'skerry-console-states-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(bundle, { recursive: true }))
  await buildConsole({ outputDirectory: bundle, compression: 'fast' })
  const hub = stack.use(await startTestHub({ consoleDirectory: join(bundle, 'console') }))
  const subject = { commonName: 'olga', organizations: ['system:masters'] }
  const admin = openTestBrowser(hub, await hub.credentialsOf(subject))
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  stack.defer(() => browser.close())
  const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  const scene = { hub, browser, admin, axe: await readFile(axePath, 'utf8'), findings: [] }
  await visit(scene, 'empty')
  const agent = await fillHub(hub, admin, stack)
  if (values.addresses) await shareAddresses(scene)
  for (const state of pageStates) {
    if (state !== 'empty' && state !== 'away') await visit(scene, state)
  }
  await agent[Symbol.asyncDispose]()
  await visit(scene, 'away')
  console.log(`${scene.findings.length} findings; pictures: ${pictures}`)
  if (scene.findings.length > 0) process.exitCode = exitCodes.failure
}

/** Opens all pages in this state, as a user who may see them or, in the state `forbidden`, not. */
async function visit(scene: Scene, state: PageState): Promise<void> {
  if (!values.states.split(',').includes(state)) return
  const page = await openTab(scene, state)
  await prepareState(page, state)
  const named = values.pages.split(',').map((name): [string, string] => [name, pathOf(name)])
  const made = state === 'hostile' ? hostileAddresses : []
  for (const [name, path] of [...named, ...made.map((path, at) => [`address-${at}`, path])]) {
    await page.goto(`/console${path}`)
    await page.waitForTimeout(settledMs)
    await look(scene, page, `${state}-${name}`)
  }
  await page.context().close()
}

function pathOf(name: string): string {
  const path = pages[name]
  if (path !== undefined) return path
  const text = `Cannot take pictures of page ${name}: it is not in the table`
  throw new ExpectedError(text, exitCodes.usage)
}

/** Drives the lists, and compares them with what another tab shows at the same address. */
async function shareAddresses(scene: Scene): Promise<void> {
  const page = await openTab(scene, 'live')
  for (const name of values.pages.split(',')) {
    for (const finding of await compareAddresses(page, `/console${pathOf(name)}`)) {
      note(scene, `address of ${name}: ${finding}`)
    }
  }
  await page.context().close()
}

/** Opens a tab that is logged in and notes everything that should not happen in it. */
async function openTab(scene: Scene, state: PageState): Promise<Page> {
  const context = await scene.browser.newContext({
    ignoreHTTPSErrors: true,
    baseURL: scene.hub.url,
    colorScheme: values.light ? 'light' : 'dark',
    locale: values.language,
    reducedMotion: 'reduce',
    viewport: { width: Number(values.width), height: 700 },
  })
  await context.addInitScript({ content: reportViolations })
  const page = await context.newPage()
  const noteHere = (text: string): void => note(scene, `${state} ${page.url()}: ${text}`)
  page.on('pageerror', (error) => noteHere(error.message))
  page.on('console', (message) => {
    // The browser itself names each answer that is an error, and such answers belong to most of the states.
    const isFault = message.type() === 'error' && !/status of \d{3}/.test(message.text())
    if (isFault) noteHere(message.text())
  })
  page.on('dialog', (dialog) => {
    noteHere(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await logIn(scene, page, state)
  return page
}

async function logIn({ admin }: Scene, page: Page, state: PageState): Promise<void> {
  if (state === 'forbidden') {
    const user = { name: 'bob', groups: ['visitors'] }
    const made = await admin.ask({ method: 'POST', path: '/hub/v1/users', json: user })
    await page.goto('/console/')
    await page.locator('input[type=password]').fill(String(made.body['token']))
    await page.keyboard.press('Enter')
  } else {
    const made = await admin.ask({ method: 'POST', path: '/hub/v1/session/codes', json: {} })
    await page.goto(`/console/#code=${String(made.body['code'])}`)
  }
  await page.locator('.shell').waitFor()
}

async function look(scene: Scene, page: Page, name: string): Promise<void> {
  const suffix = values.language === 'en-GB' ? '' : `-${values.language}`
  const path = join(pictures, `${name}-${values.width}${suffix}.png`)
  await writeFile(path, await page.screenshot({ animations: 'disabled' }))
  const main = page.locator('main')
  const text = (await main.innerText()).replaceAll(/\s+/g, ' ')
  console.log(`${name}\t${text.slice(0, 240)}`)
  if ((await main.locator('h1').count()) !== 1) note(scene, `${name}: the page has no title`)
  for (const trace of await traces(page)) note(scene, `${name}: ${trace}`)
  const widthPx = await page.evaluate<number>('document.documentElement.scrollWidth')
  if (widthPx > Number(values.width)) note(scene, `${name}: the page is ${widthPx} pixels wide`)
  await page.evaluate(scene.axe)
  const found = await page.evaluate<readonly string[]>(`axe
    .run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes[0]?.target))`)
  for (const finding of found) note(scene, `${name}: ${finding}`)
}

function note({ findings }: Scene, finding: string): void {
  findings.push(finding)
  console.log(`✖ ${finding}`)
}

/** Interfaces that come and go on the machine would abort the browser's requests. */
function enterNamespace(): void {
  const script = 'ip link set lo up && exec "$@"'
  const command = [process.execPath, ...process.argv.slice(1)]
  const { status } = spawnSync('unshare', ['--net', 'sh', '-c', script, 'sh', ...command], {
    stdio: 'inherit',
    env: { ...process.env, [inNamespace]: '1' },
  })
  process.exitCode = status ?? exitCodes.failure
}

if (process.env[inNamespace] === undefined) enterNamespace()
else await main()
