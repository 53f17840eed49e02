import type { CDPSession, Page } from 'playwright-core'

/** The work of a page in a time, on the thread that draws. */
export interface Work {
  readonly framesPerSecond: number
  /** The time between two frames, which 95 of a hundred keep. */
  readonly frameMsP95: number
  /** The time of the thread in all tasks, in milliseconds a second. */
  readonly taskMs: number
}

/** A page of the console as the browser itself measures it. */
export class MeasuredPage {
  readonly page: Page
  readonly #session: CDPSession
  #bytes = 0

  private constructor(page: Page, session: CDPSession) {
    this.page = page
    this.#session = session
  }

  static async of(page: Page): Promise<MeasuredPage> {
    const session = await page.context().newCDPSession(page)
    const measured = new MeasuredPage(page, session)
    await session.send('Network.enable')
    await session.send('Performance.enable')
    // Headers and bodies as they came over the connection, and the texts of WebSockets before their compression.
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      measured.#bytes += encodedDataLength
    })
    session.on('Network.webSocketFrameReceived', ({ response }) => {
      measured.#bytes += Buffer.byteLength(response.payloadData)
    })
    return measured
  }

  /** The bytes since the last look. */
  takeBytes(): number {
    const bytes = this.#bytes
    this.#bytes = 0
    return bytes
  }

  /** Resolves with the milliseconds from the beginning of the navigation until the first contents were painted. */
  firstPaintMs(): Promise<number> {
    // An element is there before the browser reports that it was painted.
    return this.page.evaluate<number>(`new Promise((resolve) => {
      new PerformanceObserver((list) => {
        const [paint] = list.getEntriesByName('first-contentful-paint')
        if (paint) resolve(paint.startTime)
      }).observe({ type: 'paint', buffered: true })
    })`)
  }

  /** Returns the milliseconds since the beginning of the navigation. */
  nowMs(): Promise<number> {
    return this.page.evaluate<number>('performance.now()')
  }

  /** The memory of living objects, in MB of 10^6 bytes. */
  async heapMegabytes(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage')
    return (await this.#metric('JSHeapUsedSize')) / 1e6
  }

  /** Watches the page's frames for a time. `eachFrame` is a statement that runs in each of them. */
  async work(forMs: number, eachFrame = ''): Promise<Work> {
    const beforeSeconds = await this.#metric('TaskDuration')
    const times = await this.page.evaluate<number[]>(`new Promise((resolve) => {
      const times = []
      const step = (now) => {
        times.push(now)
        ${eachFrame}
        if (now - times[0] < ${forMs}) requestAnimationFrame(step)
        else resolve(times)
      }
      requestAnimationFrame(step)
    })`)
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    const sorted = gaps.toSorted((a, b) => a - b)
    const taskSeconds = (await this.#metric('TaskDuration')) - beforeSeconds
    return {
      framesPerSecond: gaps.length / seconds,
      frameMsP95: sorted[Math.floor(sorted.length * 0.95)] ?? NaN,
      taskMs: (taskSeconds * 1_000) / seconds,
    }
  }

  /** Clicks an element, and returns the milliseconds until the frame after it was drawn. */
  clickMs(selector: string): Promise<number> {
    return this.page.evaluate<number>(`new Promise((resolve) => {
      const element = document.querySelector(${JSON.stringify(selector)})
      const startMs = performance.now()
      element.click()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startMs)))
    })`)
  }

  /** Makes the page believe that nobody sees it. */
  async hide(): Promise<void> {
    await this.page.evaluate(`
      Object.defineProperty(document, 'hidden', { get: () => true })
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
      document.dispatchEvent(new Event('visibilitychange'))`)
  }

  async #metric(name: string): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return metrics.find((metric) => metric.name === name)?.value ?? NaN
  }
}
