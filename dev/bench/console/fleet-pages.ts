import { setTimeout as sleep } from 'node:timers/promises'
import { logIn } from '../../e2e/console-scene.ts'
import { alone, type Figure } from '../measure/figure.ts'
import type { BenchScene } from './bench-scene.ts'
import { MeasuredPage } from './measured-page.ts'

export const clusterCount = 2_000
export const changesPerSecond = 100
const observedMs = 10_000
const warmMs = 3_000
const idleMs = 20_000
const quietMs = 12_000
const quietMsMax = 120_000
/** A hidden tab gives its stream back after a minute. */
const hiddenMs = 62_000
const goals = { framesPerSecond: 58, frameMs: 25, taskMs: 150, heap: 80, idleBytes: 2_000 }

const made = new WeakSet<BenchScene>()

/** Makes the clusters once, for all loads that need them. */
export async function ensureFleet(scene: BenchScene): Promise<void> {
  if (made.has(scene)) return
  made.add(scene)
  await scene.atHub.order({ do: 'clusters', at: scene.hubConfig, count: clusterCount })
}

/** Overview and table of the fleet while a hundred clusters change each second. */
export async function measureFleetPages(scene: BenchScene): Promise<Figure[]> {
  await ensureFleet(scene)
  const figures: Figure[] = []
  for (const [name, path] of [
    ['overview', '/console/'],
    ['table', '/console/clusters'],
  ] as const) {
    const page = await openPage(scene, path)
    const forMs = warmMs + observedMs + 2_000
    const change = { at: scene.hubConfig, count: clusterCount, perSecond: changesPerSecond, forMs }
    const changing = scene.atHub.order({ do: 'change', ...change })
    await sleep(warmMs)
    const { framesPerSecond, frameMsP95, taskMs } = await page.work(observedMs)
    await changing
    const heap = await page.heapMegabytes()
    await page.page.context().close()
    const figure = (what: string, unit: string, value: number, goal: number): Figure =>
      alone(`console.fleet.${name}.${what}`, unit, value, goal)
    figures.push(
      figure('frames', '1/s', framesPerSecond, goals.framesPerSecond),
      figure('frame.p95', 'ms', frameMsP95, goals.frameMs),
      figure('thread', 'ms per s', taskMs, goals.taskMs),
      figure('heap', 'MB', heap, goals.heap),
    )
  }
  return figures
}

/** A page at which nothing changes, and one that nobody sees. */
export async function measureIdlePage(scene: BenchScene): Promise<Figure[]> {
  await ensureFleet(scene)
  const page = await openPage(scene, '/console/')
  await untilQuiet(page)
  const { taskMs } = await page.work(idleMs)
  const idleBytes = (page.takeBytes() * 1_000) / idleMs
  await page.hide()
  await sleep(hiddenMs)
  page.takeBytes()
  await sleep(idleMs)
  const hiddenBytes = (page.takeBytes() * 1_000) / idleMs
  await page.page.context().close()
  return [
    alone('console.idle.bytes', 'B/s', idleBytes, goals.idleBytes),
    alone('console.idle.thread', 'ms per s', taskMs, null),
    alone('console.hidden.bytes', 'B/s', hiddenBytes, 0),
  ]
}

/**
 * Waits until nothing has come for a while: a hub finds out one after the other that clusters without agents report nothing
 * any more, and each of them is a change. A page that is never quiet is measured all the same.
 */
async function untilQuiet(page: MeasuredPage): Promise<void> {
  for (let waitedMs = 0; waitedMs < quietMsMax; waitedMs += quietMs) {
    page.takeBytes()
    await sleep(quietMs)
    if (page.takeBytes() < (goals.idleBytes * quietMs) / 1_000) return
  }
}

async function openPage({ browser, token }: BenchScene, path: string): Promise<MeasuredPage> {
  const tab = await browser.tab()
  await logIn(tab, token)
  const page = await MeasuredPage.of(tab)
  await tab.goto(path)
  await tab.getByText('shop-0001', { exact: true }).first().waitFor({ state: 'attached' })
  return page
}
