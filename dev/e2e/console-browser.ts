import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { TestHost } from '@skerry/testing'

const root = join(import.meta.dirname, '../..')

/** Screenshots stay here for people to look at. */
const pictureDirectory = join(root, 'node_modules/.cache/console-pictures')

export interface TabOptions {
  readonly colorScheme?: 'dark' | 'light'
  readonly locale?: string
  readonly viewport?: { readonly width: number; readonly height: number }
}

/** One finding of axe, as far as a test prints it. */
interface AxeFinding {
  readonly id: string
  readonly impact?: string
  readonly help: string
  readonly nodes: readonly { readonly target: unknown }[]
}

/** A link gets its IPv6 address a second after it is up, and Chromium aborts all requests then. */
async function settleNetwork({ netns }: TestHost): Promise<void> {
  const disable = 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'
  await promisify(execFile)('ip', ['netns', 'exec', netns, 'sh', '-c', disable])
}

/** Runs in each page, whose policy reports what it blocks to listeners. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile)
})`

/**
 * Debian's Chromium on a host of its own: interfaces that other tests add to or remove from the machine would abort its
 * requests. It remembers everything that the pages should not do.
 */
export class ConsoleBrowser implements AsyncDisposable {
  readonly #browser: Browser
  readonly #directory: string
  readonly #server: string
  readonly #axe: string
  /** Errors and warnings of pages, and reports of the policy, since the last look. */
  #faults: string[] = []
  #ignored: RegExp | undefined

  private constructor(parts: { browser: Browser; directory: string; server: string; axe: string }) {
    this.#browser = parts.browser
    this.#directory = parts.directory
    this.#server = parts.server
    this.#axe = parts.axe
  }

  static async start(host: TestHost, server: string): Promise<ConsoleBrowser> {
    await mkdir(pictureDirectory, { recursive: true })
    await settleNetwork(host)
    const directory = await mkdtemp(join(tmpdir(), 'skerry-browser-'))
    const executablePath = join(directory, 'chromium')
    // The test speaks with it over inherited pipes, which nsenter passes on.
    const script = `#!/bin/sh\nexec nsenter --net=/run/netns/${host.netns} -- chromium "$@"\n`
    await writeFile(executablePath, script)
    await chmod(executablePath, 0o755)
    const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
    const axe = await readFile(axePath, 'utf8')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    return new ConsoleBrowser({ browser, directory, server, axe })
  }

  /** Opens a tab with cookies of its own. */
  async tab(options: TabOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      ignoreHTTPSErrors: true,
      baseURL: this.#server,
      colorScheme: options.colorScheme ?? 'dark',
      locale: options.locale ?? 'en-GB',
      viewport: options.viewport ?? { width: 1280, height: 800 },
      // Without a graphics card each frame of a picture that breathes costs processor time.
      reducedMotion: 'reduce',
    })
    context.on('page', (page) => this.#watch(page))
    await context.addInitScript({ content: reportViolations })
    return context.newPage()
  }

  #watch(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#note(message.text())
    })
    page.on('pageerror', (error) => this.#note(`page error: ${error.message}`))
    page.on('dialog', (dialog) => {
      this.#note(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
  }

  #note(text: string): void {
    if (!this.#ignored?.test(text)) this.#faults.push(text)
  }

  /** Texts that the browser itself prints while a test lets requests fail. */
  expect(faults: RegExp | undefined): void {
    this.#ignored = faults
  }

  /** Returns the faults since the last look. */
  takeFaults(): readonly string[] {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  async picture(page: Page, name: string): Promise<void> {
    await page.screenshot({ path: join(pictureDirectory, `${name}.png`), animations: 'disabled' })
  }

  /** Returns the findings of axe that keep people out, each with its place. */
  async accessibilityFindings(page: Page): Promise<readonly string[]> {
    await page.evaluate(this.#axe)
    const found: unknown = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')
    // The documented result of axe.run.
    const { violations } = found as { readonly violations: readonly AxeFinding[] }
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => `${id}: ${help}: ${JSON.stringify(nodes[0]?.target)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}
