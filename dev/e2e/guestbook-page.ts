import { until } from '@skerry/testing'
import type { TestHost } from '@skerry/testing'

/** The content of the guestbook's page. */
export interface Page {
  greeting: string
  version: string
  pod: string
  visits: number
}

/** Fetches the page from the host; an error contains the unexpected answer. */
export async function fetchPage(from: TestHost, address: string): Promise<Page> {
  return parsePage(await fetchText(from, `http://${address}/cgi-bin/page`))
}

export async function fetchText(from: TestHost, url: string): Promise<string> {
  const { stdout, stderr, exitCode } = await from.run(['busybox', 'wget', '-q', '-O', '-', url], {
    timeoutMs: 5_000,
  })
  if (exitCode !== 0) throw new Error(`Cannot fetch ${url}: ${stderr.trim() || exitCode}`)
  return stdout
}

function parsePage(text: string): Page {
  const match = /<h1>(.*)<\/h1>\n<p>Version (\S+), served by (\S+)\n<p>Visits: (\d+)/.exec(text)
  const [, greeting, version, pod, visits] = match ?? []
  if (greeting === undefined || version === undefined || pod === undefined) {
    throw new Error(`Cannot read the page: ${text}`)
  }
  return { greeting, version, pod, visits: Number(visits) }
}

export interface Visits {
  pages: Page[]
  failures: string[]
}

/** Fetches the page again and again, from before the action until after it. */
export async function visitWhile(
  fetch: () => Promise<Page>,
  action: () => Promise<void>,
): Promise<Visits> {
  const visits: Visits = { pages: [], failures: [] }
  const ended = new AbortController()
  const visitor = visitUntil(ended.signal, fetch, visits)
  try {
    await action()
  } finally {
    ended.abort()
    await visitor
  }
  return visits
}

async function visitUntil(
  signal: AbortSignal,
  fetch: () => Promise<Page>,
  visits: Visits,
): Promise<void> {
  await until(
    async () => {
      try {
        visits.pages.push(await fetch())
      } catch (error) {
        visits.failures.push(`${new Date().toISOString()} ${String(error)}`)
      }
      return signal.aborted
    },
    // The action bounds its own time.
    new AbortController().signal,
  )
}
