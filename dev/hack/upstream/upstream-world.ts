import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  settleMsMax,
  type Stillness,
  type StoryWorld,
} from '../../differential/controllers/story-world.ts'
import { connect, EventReader, type Subject } from '../../differential/subject.ts'
import { buildUpstream } from './build-upstream.ts'
import { startUpstream } from './run-upstream.ts'

/** The limits of controllers are off, so that their writes depend only on what they see. */
const unhurried = ['--kube-api-qps=1000', '--kube-api-burst=2000']

/** Starts upstream's API server and controller manager, empty, in real time. */
export async function startUpstreamWorld(): Promise<StoryWorld & AsyncDisposable> {
  const bin = await buildUpstream(['etcd', 'kube-apiserver', 'kube-controller-manager'])
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-stories-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const subject = stack.use(
    await startUpstream({ bin, directory, withControllers: true, controllerArguments: unhurried }),
  )
  const owned = stack.move()
  return {
    subject,
    now: () => Date.now(),
    pass: (ms) => sleep(ms),
    observe: (paths) => watchPaths(subject, paths),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Observes these lists in real time. */
export async function watchPaths(subject: Subject, paths: readonly string[]): Promise<Stillness> {
  const connection = connect(subject)
  let changedMs = performance.now()
  const readers: EventReader[] = []
  for (const path of paths) {
    const target = { method: 'GET', path: `${path}?watch=1`, headers: {}, body: undefined }
    const answer = await connection.send({ ...target, isAuthenticated: true })
    readers.push(new EventReader(answer.stream))
  }
  const running = readers.map((reader) => follow(reader, () => (changedMs = performance.now())))
  return {
    async settle(quietMs) {
      const endMs = performance.now() + settleMsMax
      changedMs = performance.now()
      for (;;) {
        const leftMs = changedMs + quietMs - performance.now()
        if (leftMs <= 0) return
        if (performance.now() > endMs) throw new Error('Cannot settle: the controllers never rest')
        await sleep(leftMs)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const reader of readers) reader.close()
      await Promise.all(running)
      connection[Symbol.dispose]()
    },
  }
}

async function follow(reader: EventReader, onEvent: () => void): Promise<void> {
  try {
    while ((await reader.next()) !== undefined) onEvent()
  } catch (error) {
    // The caller closes the reader when the story is over.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
