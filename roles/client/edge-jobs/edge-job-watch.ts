import {
  ExpectedError,
  createWakeFlag,
  exitCodes,
  linkedSignal,
  sayWhenNew,
  silentLogger,
  systemRandom,
} from '@skerry/base'
import { createInformer } from '@skerry/client'
import { edgeJobAsks, type EdgeJob } from '@skerry/provisioning'
import { stopSignal } from '../../runtime/role-context.ts'
import {
  commandClock,
  namespaceWords,
  toldPlainly,
  type EdgeOptions,
} from '../edge-clusters/edge-cluster-access.ts'
import { plainText } from '../text/plain-text.ts'
import { noJob, openJob, type JobAccess } from './edge-job-access.ts'
import { clusterTexts, jobPhase } from './edge-job-text.ts'
import { watchUntil } from '../edge-clusters/watch-until.ts'

/** Follows a job until it has ended. Rejects with an ExpectedError unless it is Completed. */
export async function watchEdgeJob(options: EdgeOptions): Promise<void> {
  await toldPlainly(`watch edge job ${options.name}`, async () => {
    const access = await openJob(options)
    await followJob(access, { output: options.output, write: console.log }, stopSignal())
  })
}

export interface JobOutput {
  /** Either json or, if omitted, text for people. */
  readonly output: string | undefined
  readonly write: (line: string) => void
}

export async function followJob(
  { client, key }: JobAccess,
  to: JobOutput,
  signal: AbortSignal,
): Promise<void> {
  const changed = createWakeFlag()
  const selected = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` }
  const deps = { clock: commandClock, random: systemRandom, log: silentLogger }
  const informer = createInformer(client, selected, deps)
  using _listening = informer.onChange(() => changed.raise())
  using scope = linkedSignal(signal)
  // An informer would try for ever what this refuses at once, such as a user without the right.
  await client.list(selected, signal)
  const show = jobPrinter(to)
  const follow = async (): Promise<void> => {
    await informer.whenSynced(scope.signal)
    for (;;) {
      const job = informer.get(key)
      if (job === undefined) throw noJob(key)
      show(job)
      if (hasEnded(job)) return checkEnd(job)
      await changed.wait(scope.signal)
    }
  }
  const run = (inner: AbortSignal): Promise<void> => informer.run(inner)
  await watchUntil({ run, follow, scope, subject: `edge job ${key.name}` }, signal)
}

/** Prints a line for each cluster, and for the whole, that is new. */
function jobPrinter({ output, write }: JobOutput): (job: EdgeJob) => void {
  const say = sayWhenNew(write)
  return (job) => {
    const { name = '' } = job.metadata
    const { message = '' } = job.status ?? {}
    const whole = `${name}: ${jobPhase(job)}${message === '' ? '' : `: ${plainText(message)}`}`
    say(
      output === 'json'
        ? [JSON.stringify({ name, ...job.status, phase: jobPhase(job) })]
        : [...clusterTexts(job), whole],
    )
  }
}

function hasEnded({ metadata, status }: EdgeJob): boolean {
  const { annotations = {}, generation = 0 } = metadata
  const isAsked = Object.values(edgeJobAsks).some((ask) => annotations[ask] !== undefined)
  if (isAsked || (status?.observedGeneration ?? 0) < generation) return false
  return ['Completed', 'Failed', 'Cancelled'].includes(status?.phase ?? '')
}

function checkEnd(job: EdgeJob): void {
  if (job.status?.phase === 'Completed') return
  const { name = '', namespace = 'default' } = job.metadata
  const place = namespaceWords(namespace)
  const retry = `"skerry edge-job retry ${name}${place}"`
  const why =
    job.status?.phase === 'Cancelled'
      ? `it was cancelled; continue with ${retry}`
      : `it has failed: ${plainText(job.status?.message ?? '')}; read "skerry edge-job get ${name}${place}", put it right, then run ${retry}`
  throw new ExpectedError(`Cannot finish edge job ${name}: ${why}`, exitCodes.failure)
}
