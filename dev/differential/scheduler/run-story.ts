import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Connection, type Subject } from '../subject.ts'
import { isDecided, showWorld, textAt, type AnyFields, type World } from './show-world.ts'
import { collectionOf, type Manifest } from './story-objects.ts'
import type { Step, Story, Target } from './story.ts'

/** The observation at one place of a story. */
export interface Sight {
  readonly title: string
  readonly text: string
}

/** The time without a change after which an observation is taken. */
export interface Patience {
  readonly quietMs: number
  /** The expected observations, if known: seeing them suffices. */
  readonly expected?: readonly Sight[]
  /**
   * Resolves with a number that rises with every write, so that the objects need not be read before. If
   * omitted, they are read.
   */
  readonly revision?: () => Promise<number>
}

const decisionMsMax = 10_000

/** The time for a scheduler to receive the facts of its next decision, in milliseconds. */
const hearingMs = 60
const stepMs = 25

/** Plays the story in a namespace of its name and returns the observations; leaves nothing behind. */
export async function runStory(
  story: Story,
  subject: Subject,
  patience: Patience,
): Promise<Sight[]> {
  using connection = connect(subject)
  const run: Run = { story, connection, patience, created: [], seen: [] }
  await create(run, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: story.name } })
  try {
    for (const step of story.steps) await play(run, step)
  } finally {
    for (const path of run.created.toReversed()) await remove(run, path)
  }
  return run.seen
}

interface Run {
  readonly story: Story
  readonly connection: Connection
  readonly patience: Patience
  /** The paths of created objects, oldest first. */
  readonly created: string[]
  readonly seen: Sight[]
}

async function play(run: Run, step: Step): Promise<void> {
  switch (step.act) {
    case 'create':
      return createAndWait(run, step)
    case 'patch':
    case 'status': {
      const path = `${pathOf(step.target)}${step.act === 'status' ? '/status' : ''}`
      return send(run, { method: 'PATCH', path, body: step.patch }).then(() => undefined)
    }
    case 'delete':
      return remove(run, pathOf(step.target))
    case 'look':
      run.seen.push({ title: step.title, text: await look(run, step) })
      return
    default:
      throw new RangeError('Cannot play a step of no known kind')
  }
}

function pathOf({ kind, namespace, name }: Target): string {
  return `${collectionOf(kind, namespace)}/${name}`
}

async function createAndWait(
  run: Run,
  { object, status, isHeld }: Step & { act: 'create' },
): Promise<void> {
  if (object.kind === 'Pod') await sleep(hearingMs)
  const path = await create(run, object)
  if (status !== undefined)
    await send(run, { method: 'PATCH', path: `${path}/status`, body: { status } })
  if (object.kind !== 'Pod') return
  if (isHeld || !isForUs(run.story, object)) return
  // Pods are decided one after the other, so that each decision sees the previous ones' results.
  const endMs = performance.now() + decisionMsMax
  const hasChanged = changeDetector(run)
  while (performance.now() < endMs) {
    if (await hasChanged()) {
      const pod = await read(run, path)
      const claims = await list(run, collectionOf('PersistentVolumeClaim', run.story.name))
      if (isDecided(pod, claims)) return
    }
    await sleep(stepMs)
  }
}

function isForUs({ config }: Story, pod: Manifest): boolean {
  const usual = 'default-scheduler'
  const name = objectOf(pod['spec'])['schedulerName'] ?? usual
  const profiles = config?.['profiles']
  if (!Array.isArray(profiles)) return name === usual
  return profiles.some((each) => (objectOf(each)['schedulerName'] ?? usual) === name)
}

function objectOf(value: unknown): AnyFields {
  // Any JSON object may be indexed by a string.
  return typeof value === 'object' && value !== null ? (value as AnyFields) : {}
}

async function create(run: Run, object: Manifest): Promise<string> {
  const { name, namespace = '' } = object.metadata
  const collection = collectionOf(object.kind, String(namespace))
  await send(run, { method: 'POST', path: collection, body: object })
  const path = `${collection}/${String(name)}`
  run.created.push(path)
  return path
}

/** Deletes pods at once, as if a node had stopped them; other objects lose their finalizers. */
async function remove(run: Run, path: string): Promise<void> {
  const deleted = await ask(run, { method: 'DELETE', path: `${path}?gracePeriodSeconds=0` })
  if (deleted.status === 404) return
  const left = await ask(run, { method: 'GET', path })
  if (left.status === 200 && textAt(left.body, 'metadata.finalizers') !== '') {
    await ask(run, { method: 'PATCH', path, body: { metadata: { finalizers: null } } })
  }
}

async function look(run: Run, { title, ties, until }: Step & { act: 'look' }): Promise<string> {
  const { quietMs, expected } = run.patience
  const wanted = expected?.[run.seen.length]
  const endMs = performance.now() + decisionMsMax
  let text = ''
  let sinceMs = performance.now()
  const hasChanged = changeDetector(run)
  for (;;) {
    if (await hasChanged()) {
      const now = showWorld(await readWorld(run), ties)
      if (now !== text) sinceMs = performance.now()
      text = now
    }
    const isExpected = wanted === undefined || (wanted.title === title && wanted.text === text)
    const isAwaited = isExpected && (until === '' || text.split('\n').includes(until))
    const nowMs = performance.now()
    if (isAwaited && nowMs - sinceMs >= quietMs) return text
    if (nowMs > endMs) return text
    await sleep(stepMs)
  }
}

/** Tells whether something may have changed since it was asked last. */
function changeDetector({ patience }: Run): () => Promise<boolean> {
  let seen: number | undefined
  return async () => {
    const revision = await patience.revision?.()
    const hasChanged = revision === undefined || revision !== seen
    seen = revision
    return hasChanged
  }
}

async function readWorld(run: Run): Promise<World> {
  const { name } = run.story
  const of = (kind: string): Promise<AnyFields[]> => list(run, collectionOf(kind, name))
  // The lists run one after the other, so that no request is in flight when the server is closed.
  const pods = await of('Pod')
  const events = await list(run, `/api/v1/namespaces/${name}/events`)
  const claims = await of('PersistentVolumeClaim')
  const volumes = await of('PersistentVolume')
  const resourceClaims = await of('ResourceClaim')
  return { pods, events, claims, volumes, resourceClaims }
}

async function list(run: Run, path: string): Promise<AnyFields[]> {
  const { items } = await read(run, path)
  return Array.isArray(items) ? items.map(objectOf) : []
}

async function read(run: Run, path: string): Promise<AnyFields> {
  return send(run, { method: 'GET', path })
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** Throws if the server refuses: a story consists of accepted requests. */
async function send(run: Run, call: Call): Promise<AnyFields> {
  const { status, body } = await ask(run, call)
  if (status < 300) return body
  const said = textAt(body, 'message')
  throw new Error(
    `Cannot play ${run.story.name}: ${call.method} ${call.path} gave ${status}: ${said}`,
  )
}

async function ask(run: Run, call: Call): Promise<{ status: number; body: AnyFields }> {
  const bytes = call.body && Buffer.from(JSON.stringify(call.body))
  const type = call.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const isPodStatus = call.method === 'PATCH' && /\/pods\/[^/]+\/status$/.test(call.path)
  const { status, stream } = await run.connection.send({
    method: call.method,
    path: call.path,
    headers: bytes
      ? {
          'content-type': isPodStatus ? 'application/strategic-merge-patch+json' : type,
          'content-length': String(bytes.length),
        }
      : {},
    body: bytes,
    isAuthenticated: true,
  })
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  const text = Buffer.concat(parts).toString()
  return { status, body: text.startsWith('{') ? objectOf(JSON.parse(text)) : { message: text } }
}
