import { logIn } from '../../e2e/console-scene.ts'
import { alone, median, type Figure } from '../measure/figure.ts'
import type { BenchScene } from './bench-scene.ts'
import { MeasuredPage } from './measured-page.ts'

const podCount = 10_000
const scrollMs = 4_000
const goals = { usableMs: 1_500, sortMs: 100, frameMs: 25, heap: 150 }

/** The table of ten thousand pods of a cluster behind its tunnel. */
export async function measurePods(scene: BenchScene): Promise<Figure[]> {
  const { cluster, browser, token, atSite } = scene
  await atSite.order({ do: 'pods', at: cluster.kubeconfig, count: podCount })
  const tab = await browser.tab()
  await logIn(tab, token)
  const page = await MeasuredPage.of(tab)
  const path = '/console/clusters/edge/workloads'
  // The first visit compiles the page and opens the tunnel's ways.
  await tab.goto(path)
  await rowsOf(tab)
  page.takeBytes()
  await tab.goto(path)
  await rowsOf(tab)
  const usableMs = await page.nowMs()
  const kilobytes = page.takeBytes() / 1_000
  const sorts: number[] = []
  for (let round = 0; round < 3; round += 1) {
    for (const column of [1, 3]) {
      sorts.push(await page.clickMs(`.table-head > :nth-child(${column + 1}) .table-sort`))
    }
  }
  const scroll = "document.querySelector('.table-body').scrollTop += 160"
  const { frameMsP95 } = await page.work(scrollMs, scroll)
  const heap = await page.heapMegabytes()
  await tab.context().close()
  return [
    alone('console.pods.usable', 'ms', usableMs, goals.usableMs),
    alone('console.pods.bytes', 'kB', kilobytes, null),
    alone('console.pods.sort', 'ms', median(sorts), goals.sortMs),
    alone('console.pods.scroll.p95', 'ms', frameMsP95, goals.frameMs),
    alone('console.pods.heap', 'MB', heap, goals.heap),
  ]
}

/** Waits until all rows are there, of which only the visible ones are drawn. */
async function rowsOf(tab: MeasuredPage['page']): Promise<void> {
  await tab.locator(`[role=grid][aria-rowcount="${podCount + 1}"]`).waitFor()
  await tab.getByRole('row').nth(5).waitFor()
}
