import { logIn } from '../../e2e/console-scene.ts'
import { alone, type Figure } from '../measure/figure.ts'
import type { BenchScene } from './bench-scene.ts'
import { MeasuredPage } from './measured-page.ts'

/** The link of the design: 5 Mbit/s, and 50 ms to the hub and back. */
const link = { oneWayMs: 25, lossPercent: 0, bytesPerSecond: 625_000 }
/** The goal of the issue for all that the first page loads, and the design's for its first contents. */
const goals = { kilobytes: 180, paintMs: 1_500 }
const browserHostNumber = 4

/** A browser that was never here opens the console over a thin link, and then comes back with a session. */
export async function measureFirstPage({ cluster, browser, token }: BenchScene): Promise<Figure[]> {
  const host = await cluster.host(browserHostNumber)
  const tab = await browser.tab()
  const first = await MeasuredPage.of(tab)
  await using _cable = await host.slow(link)
  await tab.goto('/console/')
  await tab.getByLabel('Token').waitFor()
  const loginMs = await first.nowMs()
  const paintMs = await first.firstPaintMs()
  const kilobytes = first.takeBytes() / 1_000
  await logIn(tab, token)
  // Another browser with the same session, which has nothing of the pages.
  const other = await browser.tab()
  await other.context().addCookies(await tab.context().cookies())
  const second = await MeasuredPage.of(other)
  await other.goto('/console/')
  await other.getByRole('link', { name: 'edge: Ready' }).waitFor()
  const fleetMs = await second.nowMs()
  const fleetKilobytes = second.takeBytes() / 1_000
  await Promise.all([tab, other].map((page) => page.context().close()))
  return [
    alone('console.first-page.login.bytes', 'kB', kilobytes, goals.kilobytes),
    alone('console.first-page.paint', 'ms', paintMs, goals.paintMs),
    alone('console.first-page.login.interactive', 'ms', loginMs, null),
    alone('console.first-page.fleet.bytes', 'kB', fleetKilobytes, goals.kilobytes),
    alone('console.first-page.fleet.interactive', 'ms', fleetMs, null),
  ]
}
