import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LoadConnection } from './connection.ts'
import type { Values } from './loads.ts'
import { answerOnce, type Subject } from './subject.ts'

/** The time for which the link is silent. A subject that has found nothing by then counts as this long. */
const outageMs = 60_000
const recoveryMsMax = 60_000
const attemptMs = 1_000
const pauseMs = 50

/**
 * A watch is open and silent when the link is cut: after how many seconds do its client in the cloud
 * and the server at the edge learn of it, and how long after the link is back is a request answered?
 */
export async function measureCut(
  { directory, linkPid }: { directory: string; linkPid: number },
  { entry }: Subject,
): Promise<Values> {
  const connection = await LoadConnection.open(entry, AbortSignal.timeout(10_000))
  const watch = connection.get('/watch')
  await sleep(1_000)
  const cutMs = Date.now()
  process.kill(linkPid, 'SIGUSR2')
  const silent = sleep(outageMs).then(() => outageMs)
  const cloudMs = await Promise.race([
    silent,
    watch.then(
      () => outageMs,
      () => Date.now() - cutMs,
    ),
  ])
  await silent
  const log = await readFile(join(directory, 'target.log'), 'utf8')
  const ended = Number(/^watch ended (\d+)$/m.exec(log)?.[1] ?? 0)
  process.kill(linkPid, 'SIGUSR2')
  const recoveredMs = await untilRecovered(entry)
  connection.close()
  return {
    'dead-link.cloud': cloudMs / 1_000,
    'dead-link.edge': (ended === 0 ? outageMs : ended - cutMs) / 1_000,
    recovery: recoveredMs / 1_000,
  }
}

async function untilRecovered(entry: Subject['entry']): Promise<number> {
  const startMs = performance.now()
  while (performance.now() - startMs < recoveryMsMax) {
    const failure = await answerOnce(entry, AbortSignal.timeout(attemptMs))
    if (failure === undefined) return performance.now() - startMs
    await sleep(pauseMs)
  }
  return recoveryMsMax
}
