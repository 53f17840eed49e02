import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createDefaultAccess, type Access, type Objects } from '@skerry/apiserver'
import { createCluster } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { generateKeyPair } from '@skerry/pki'
import { parseSchedulerConfiguration, runScheduler } from '@skerry/scheduler'
import { startTestApiServer } from '@skerry/testing'
import type { Subject } from '../subject.ts'
import { configurationOf } from './story-configuration.ts'
import type { Story } from './story.ts'

/** The admission plugins that both sides leave out, since stories run no controllers that these wait for. */
export const admissionLeftOut: readonly string[] = [
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
]

/** Our API server in this process, which plays one story after the other. */
export interface OurServer extends Subject, AsyncDisposable {
  /** Returns the store's revision, which rises with every write. */
  revision(): Promise<number>
  /** Places pods according to the story's configuration, until disposed. */
  schedule(story: Story, extenderUrl: string): Promise<AsyncDisposable>
}

/**
 * The directory for files in memory, where the system has one: no story is about a power failure, and disks
 * are slow.
 */
const memoryDirectory = '/dev/shm'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

export async function startOurServer(): Promise<OurServer> {
  const { privateKeyPem } = await generateKeyPair()
  const access = accessOf(privateKeyPem)
  const parentDirectory = existsSync(memoryDirectory) ? memoryDirectory : tmpdir()
  const api = await startTestApiServer({ access, namespaces: ['default'], parentDirectory })
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'skerry-scheduler' })
  return {
    url: api.url,
    credentials: api.credentials,
    revision: () => api.store.revision(),
    async schedule(story, extenderUrl) {
      const document = configurationOf(story, extenderUrl)
      const configuration = document && (await parseSchedulerConfiguration(document, deps))
      const informers = createInformerSet(cluster, deps)
      const parts = { ...deps, cluster, informers, host: 'here' }
      const scope = linkedSignal(new AbortController().signal)
      const running = runAll(scope.signal, [
        (signal) => informers.run(signal),
        (signal) => runScheduler({ ...parts, ...(configuration ? { configuration } : {}) }, signal),
      ])
      return {
        async [Symbol.asyncDispose]() {
          scope.abort(new Error('The story is over'))
          await running
        },
      }
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
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
