/**
 * Asks upstream's API server what it asks its authorizers. Development only.
 *   node dev/hack/authorization.ts record [targets] [effects]   writes dev/differential/authorization
 *   node dev/hack/authorization.ts compare [--seed <n>] [--count <n>]   other random requests, to both
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { writeKubeconfig } from '@skerry/client'
import { startTestWebhook } from '@skerry/testing'
import { AskedQuestions } from '../differential/authorization/asked-questions.ts'
import { explanationOf } from '../differential/authorization/explained-differences.ts'
import { replayTarget, startAskingServer } from '../differential/authorization/ours.ts'
import { effectTokens, playEffects } from '../differential/authorization/play-effects.ts'
import { sendRaw } from '../differential/authorization/raw-client.ts'
import {
  effectsPath,
  formatEffects,
  formatTargets,
  targetsPath,
  type AskedTarget,
  type RecordedTarget,
} from '../differential/authorization/recording.ts'
import type { Subject } from '../differential/subject.ts'
import { generateTargets } from './authorization-table.ts'
import { betaArguments } from './upstream/beta-arguments.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { startUpstream } from './upstream/run-upstream.ts'

/** The number of parallel requests. Each has its own user, and so its own questions. */
const atOnce = 12

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '12' }, count: { type: 'string', default: '2500' } },
})
const [command, ...parts] = positionals
const table = { seed: Number(values.seed), count: Number(values.count) }
const wants = (part: string): boolean => parts.length === 0 || parts.includes(part)
if (command === 'record') await record()
else if (command === 'compare') await compare()
else {
  console.error('Say record or compare; the first lines of this file tell how')
  process.exitCode = 2
}

async function record(): Promise<void> {
  await using world = await startAskingUpstream()
  if (wants('targets')) {
    const targets = await recordTargets(world, generateTargets(table))
    await writeFile(targetsPath, formatTargets(targets))
    console.log(`${targets.length} targets`)
  }
  if (wants('effects')) {
    const played = await playEffects(world)
    await writeFile(effectsPath, formatEffects(played))
    console.log(`${played.length} effects`)
  }
}

/** Sends random requests of another seed to both, and prints what differs and is not explained. */
async function compare(): Promise<void> {
  await using world = await startAskingUpstream()
  await using ours = await startAskingServer()
  const recorded = await recordTargets(world, generateTargets(table))
  let differences = 0
  for (const [at, upstream] of recorded.entries()) {
    const replayed = await replayTarget(ours, upstream, `u${at}-deny-0`)
    const request = `${upstream.method} ${upstream.target}`
    const both = { request, upstream, ours: replayed }
    if (isDeepStrictEqual(upstream, replayed) || explanationOf(both)) continue
    differences += 1
    console.log(JSON.stringify(both))
  }
  console.log(`${differences} of ${recorded.length} differ`)
  if (differences > 0) process.exitCode = 1
}

interface AskingUpstream extends AsyncDisposable {
  readonly subject: Subject
  readonly questions: AskedQuestions
}

/** Starts upstream's API server with a webhook of ours as its only authorizer; administrators pass without it. */
async function startAskingUpstream(): Promise<AskingUpstream> {
  const bin = await buildUpstream(['etcd', 'kube-apiserver'])
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-authorization-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const questions = new AskedQuestions()
  const webhook = stack.use(await startTestWebhook(({ body }) => answer(body, questions)))
  const kubeconfig = join(directory, 'webhook.kubeconfig')
  await writeKubeconfig(kubeconfig, {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'webhook',
        cluster: { server: webhook.url, 'certificate-authority-data': webhook.caBundle },
      },
    ],
    users: [{ name: 'webhook', user: {} }],
    contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'webhook' } }],
    'current-context': 'webhook',
  })
  const tokens = join(directory, 'tokens.csv')
  await writeFile(tokens, effectTokens())
  const subject = stack.use(
    await startUpstream({
      bin,
      directory,
      authorizationMode: 'Webhook',
      apiServerArguments: [
        `--authorization-webhook-config-file=${kubeconfig}`,
        '--authorization-webhook-version=v1',
        ...betaArguments(),
        `--token-auth-file=${tokens}`,
        '--authorization-webhook-cache-authorized-ttl=0s',
        '--authorization-webhook-cache-unauthorized-ttl=0s',
      ],
    }),
  )
  const owned = stack.move()
  return { subject, questions, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function answer(body: unknown, questions: AskedQuestions): object {
  // The API server sends SubjectAccessReviews, and nothing else.
  const { apiVersion, kind, spec } = body as {
    apiVersion: string
    kind: string
    spec: Record<string, unknown>
  }
  const allowed = questions.ask(String(spec['user']), spec)
  return { apiVersion, kind, status: { allowed } }
}

async function recordTargets(
  { subject, questions }: AskingUpstream,
  targets: readonly AskedTarget[],
): Promise<RecordedTarget[]> {
  const recorded: RecordedTarget[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < targets.length; at = next++) {
      const target = targets[at]
      if (!target) return
      const user = `u${at}-deny-0`
      const status = await sendRaw(subject, { ...target, headers: { 'impersonate-user': user } })
      recorded[at] = { ...target, status, questions: questions.of(user) }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return recorded
}
