import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createDefaultAccess, type Access, type Objects } from '@skerry/apiserver'
import { createCluster } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { generateKeyPair } from '@skerry/pki'
import { parseSchedulerConfiguration, runScheduler } from '@skerry/scheduler'
import { startTestApiServer } from '@skerry/testing'
import type { Subject } from '../subject.ts'
import { configurationOf } from './story-configuration.ts'
import type { Story } from './story.ts'

/** Left out on both sides, since stories have no controllers that do what these wait for. */
export const admissionLeftOut: readonly string[] = [
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
]

export interface OurScheduler extends Subject, AsyncDisposable {
  /** Starts to place pods, as the story's configuration says. */
  schedule(extenderUrl: string): Promise<void>
}

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

/** Our API server and scheduler for one story, in this process. */
export async function startOurScheduler(story: Story): Promise<OurScheduler> {
  await using stack = new AsyncDisposableStack()
  const { privateKeyPem } = await generateKeyPair()
  const access = accessOf(privateKeyPem)
  const api = stack.use(await startTestApiServer({ access, namespaces: ['default'] }))
  const scope = stack.use(linkedSignal(new AbortController().signal))
  const { signal } = scope
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'skerry-scheduler' })
  const informers = createInformerSet(cluster, deps)
  const tasks = [informers.run(signal)]
  stack.defer(async () => {
    scope.abort(new Error('The story is over'))
    await Promise.allSettled(tasks)
  })
  const owned = stack.move()
  return {
    url: api.url,
    credentials: api.credentials,
    async schedule(extenderUrl) {
      const document = configurationOf(story, extenderUrl)
      const configuration = document && (await parseSchedulerConfiguration(document))
      const parts = { ...deps, cluster, informers, host: 'here' }
      tasks.push(runScheduler({ ...parts, ...(configuration ? { configuration } : {}) }, signal))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function accessOf(signingKeyPem: string): (objects: Objects) => Access {
  const issuer = 'https://kubernetes.default.svc.cluster.local'
  const usual = createDefaultAccess({ serviceAccounts: { issuer, signingKeyPem } }, deps)
  return (objects) => {
    const access = usual(objects)
    const admission = access.admission.filter(({ name }) => !admissionLeftOut.includes(name))
    return { ...access, admission }
  }
}
