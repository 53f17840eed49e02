import type { Node } from '@skerry/api'
import { asError, createWakeFlag, runAll, withTimeout, type Clock, type Logger } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import type { BackendDial } from '../subresources/backend/backend-dial.ts'
import { sendToBackend } from '../subresources/backend/backend-request.ts'
import { kubeletTarget } from '../subresources/backend/kubelet-target.ts'
import { listTyped } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { parseScrape } from './parse-scrape.ts'
import type { UsageHistory } from './usage-history.ts'
import { metricsLimits } from '../limits-table.ts'

export interface ScrapeDeps {
  readonly objects: Objects
  readonly dial: Pick<BackendDial, 'dialNode'>
  readonly history: UsageHistory
  readonly clock: Clock
  readonly log: Logger
}

export interface NodeScraper {
  /** Call this when figures are requested, which keeps them fresh for a while. */
  onAsked(): void
  /** Runs until the signal aborts. While `isWanted` returns false, no node is scraped. */
  run(isWanted: () => boolean, signal: AbortSignal): Promise<void>
}

/** Reads every kubelet's usage of its node and containers, more often while figures are being requested. */
export function createNodeScraper(deps: ScrapeDeps): NodeScraper {
  const { clock } = deps
  const wake = createWakeFlag()
  let askedMs = Number.NEGATIVE_INFINITY
  let scrapedMs = Number.NEGATIVE_INFINITY
  const isAsked = (): boolean => clock.monotonicMs() - askedMs < metricsLimits.askedMs
  return {
    onAsked() {
      const wasIdle = !isAsked()
      askedMs = clock.monotonicMs()
      if (wasIdle && askedMs - scrapedMs >= metricsLimits.askedIntervalMs) wake.raise()
    },
    async run(isWanted, signal) {
      for (;;) {
        if (isWanted()) {
          scrapedMs = clock.monotonicMs()
          await scrapeAll(deps, signal)
        }
        // A node's first rate needs two scrapes, so the second one follows soon.
        const { askedIntervalMs, idleIntervalMs } = metricsLimits
        const waitMs = isAsked() || deps.history.lacksRate() ? askedIntervalMs : idleIntervalMs
        using _timer = clock.setTimer(waitMs, () => wake.raise())
        await wake.wait(signal)
      }
    },
  }
}

async function scrapeAll(deps: ScrapeDeps, signal: AbortSignal): Promise<void> {
  const names = listTyped<Node>(deps.objects, wellKnown.nodes).map(
    ({ metadata }) => metadata.name ?? '',
  )
  deps.history.keepOnly(new Set(names))
  const waiting = names.values()
  const work = async (scope: AbortSignal): Promise<void> => {
    for (const name of waiting) await scrapeOne(name, deps, scope)
  }
  const workers = Math.min(names.length, metricsLimits.nodesAtOnce)
  await runAll(
    signal,
    Array.from({ length: workers }, () => work),
  )
  signal.throwIfAborted()
}

async function scrapeOne(name: string, deps: ScrapeDeps, signal: AbortSignal): Promise<void> {
  const ms = metricsLimits.scrapeTimeoutMs
  const message = `Cannot read figures of node ${JSON.stringify(name)}: no answer in ${ms} ms`
  try {
    const text = await withTimeout({ ms, message, clock: deps.clock }, signal, (scope) =>
      read(name, deps, scope),
    )
    const { containersPerNodeMax } = metricsLimits
    deps.history.add(name, parseScrape(text, deps.clock.now(), containersPerNodeMax))
  } catch (error) {
    signal.throwIfAborted()
    deps.log.debug('Node not measured', {
      node: name,
      error: asError(error),
    })
  }
}

async function read(
  name: string,
  { objects, dial, clock }: ScrapeDeps,
  signal: AbortSignal,
): Promise<string> {
  const target = kubeletTarget(objects, name)
  const answer = await sendToBackend(
    {
      method: 'GET',
      path: '/metrics/resource',
      host: `${target.host}:${target.port}`,
      headers: { accept: 'text/plain' },
      dial: (scope) => dial.dialNode(target, scope),
      clock,
    },
    signal,
  )
  if (answer.type === 'upgrade') {
    answer.socket.destroy()
    throw new Error('Cannot read figures: the kubelet switched protocols without being asked')
  }
  const { response } = answer
  if (response.statusCode !== 200) {
    response.destroy()
    throw new Error(`Cannot read figures: the kubelet answered ${response.statusCode}`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > metricsLimits.answerBytesMax) throw new Error('Cannot read figures: too many')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
