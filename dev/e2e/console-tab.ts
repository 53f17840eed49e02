import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { CommandResult, TestNetwork } from '@skerry/testing'
import { ConsoleBrowser } from './console-browser.ts'

const browserHostNumber = 4

/** A hub of a test, and the program as its administrator. */
export interface HubOfTab {
  readonly network: TestNetwork
  readonly server: string
  readonly skerry: (...args: string[]) => Promise<CommandResult>
}

/** A browser on a host of its own, with a tab in which the hub's administrator is logged in by a link. */
export interface ConsoleTab extends AsyncDisposable {
  readonly browser: ConsoleBrowser
  readonly page: Page
}

export async function openConsoleTab(hub: HubOfTab): Promise<ConsoleTab> {
  await using stack = new AsyncDisposableStack()
  const host = await hub.network.addHost(browserHostNumber)
  const browser = stack.use(await ConsoleBrowser.start(host, hub.server))
  const page = await browser.tab()
  const { stdout, stderr } = await hub.skerry('console')
  const [code] = /#code=\S+/.exec(stdout) ?? []
  assert.ok(code !== undefined, stderr)
  await page.goto(`/console/${code}`)
  await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor()
  const owned = stack.move()
  return { browser, page, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
