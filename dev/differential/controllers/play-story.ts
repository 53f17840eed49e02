import { isAhead, isTerminating, podEvents, statusAfter, type PodEvent } from './played-kubelet.ts'
import {
  changesBetween,
  compareNaturally,
  StoryNames,
  takeSnapshot,
  type Listed,
  type Snapshot,
} from './snapshot.ts'
import {
  connectStory,
  isFields,
  nameOf,
  type Fields,
  type KubeFields,
  type StoryApi,
} from './story-api.ts'
import type { Stillness, StoryWorld } from './story-world.ts'
import { durationMs, type Step, type Story } from './story.ts'

/** The changes up to the end of a chapter. */
export interface Checkpoint {
  readonly name: string
  /** The changed parts of each object by its reference, or null if it is deleted. */
  readonly changes: Readonly<Record<string, Fields | null>>
}

/** Plays a story in its own namespace and leaves nothing behind. Throws Error if a step cannot be done. */
export async function playStory(story: Story, world: StoryWorld): Promise<Checkpoint[]> {
  using api = await connectStory(world.subject, story.name, world.kinds)
  const play: Play = { story, world, api, names: new StoryNames(), made: [], stillness: undefined }
  await startNamespace(play)
  const checkpoints: Checkpoint[] = []
  const namespaced = story.show.filter((resource) => api.isNamespaced(resource))
  await using stillness = await world.observe(namespaced.map((resource) => api.pathOf(resource)))
  play.stillness = stillness
  try {
    let before: Snapshot = {}
    for (const { name, steps } of story.chapters) {
      for (const step of steps) {
        try {
          await take(play, step)
        } catch (error) {
          throw new Error(`Cannot play ${story.name}, "${name}": ${step.text}`, { cause: error })
        }
      }
      await stillness.settle(story.quietMs)
      const now = takeSnapshot(await readShown(play), play.names, story)
      checkpoints.push({ name, changes: changesBetween(before, now) })
      before = now
    }
  } finally {
    await endNamespace(play)
  }
  return checkpoints
}

interface Play {
  readonly story: Story
  readonly world: StoryWorld
  readonly api: StoryApi
  readonly names: StoryNames
  /** The references of created objects without a namespace, oldest first; the story's own namespace is one. */
  readonly made: string[]
  stillness: Stillness | undefined
}

type Verb = (play: Play, step: Step) => Promise<void>

const verbs: Readonly<Record<string, Verb>> = {
  create,
  adopt,
  patch,
  post,
  delete: remove,
  bind,
  gone,
  evolve,
  pass: (play, { words }) => play.world.pass(durationMs(words[0] ?? '')),
  settle: (play) => settle(play),
  wait,
}

async function take(play: Play, step: Step): Promise<void> {
  if (podEvents.includes(step.verb)) return report(play, step)
  const verb = verbs[step.verb]
  if (!verb) {
    throw new RangeError(
      `"${step.verb}" is not a step: say ${[...Object.keys(verbs), ...podEvents].join(', ')}`,
    )
  }
  await verb(play, step)
}

async function create({ api, made }: Play, { documents }: Step): Promise<void> {
  for (const document of documents) {
    const reference = await api.create(document)
    if (!api.isNamespaced(reference.split('/')[0] ?? '')) made.push(reference)
  }
}

/** Runs `adopt nodeunits/a`: an object without a namespace that a controller makes is shown and removed like the story's. */
async function adopt(play: Play, step: Step): Promise<void> {
  const [reference = ''] = step.words
  await wait(play, { ...step, words: [reference, 'metadata.uid'] })
  play.made.push(reference)
}

async function patch(play: Play, { words, documents }: Step): Promise<void> {
  for (const document of documents) await play.api.patch(actual(play, words[0]), document)
}

async function post(play: Play, { words, documents }: Step): Promise<void> {
  for (const document of documents) await play.api.post(actual(play, words[0]), document)
}

/** Runs `delete deployments/web Orphan`. If the policy is omitted, the server's default applies. */
async function remove(play: Play, { words: [reference, policy], documents }: Step): Promise<void> {
  const options = policy === undefined ? documents[0] : { propagationPolicy: policy }
  await play.api.delete(actual(play, reference), options)
}

/** A pod's name as the golden shows it is its name here, too. */
function actual({ names }: Play, reference = ''): string {
  const [resource = '', name, ...rest] = reference.split('/')
  return [resource, ...(name === undefined ? [] : [names.actual(name)]), ...rest].join('/')
}

/**
 * Runs `bind node-1 [count] [selector]` on pods without a node, or `bind own`, which binds each to the node
 * that it requests.
 */
async function bind(play: Play, { words: [node, ...which] }: Step): Promise<void> {
  const isFree = (pod: KubeFields): boolean => !isTerminating(pod) && !('nodeName' in specOf(pod))
  for (const pod of await chosenPods(play, which, isFree)) {
    const target = { kind: 'Node', name: node === 'own' ? ownNodeOf(pod) : node }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: nameOf(pod) }, target }
    await play.api.post(`pods/${nameOf(pod)}/binding`, binding)
    await settle(play)
  }
}

/** The node that a daemon's affinity names. */
function ownNodeOf(pod: KubeFields): string | undefined {
  const affinity = JSON.stringify(specOf(pod)['affinity'] ?? '')
  return /"key":"metadata.name","operator":"In","values":\["([^"]+)"/.exec(affinity)?.[1]
}

/** Runs `gone [count] [selector]`: ends pods that are being deleted. */
async function gone(play: Play, { words }: Step): Promise<void> {
  for (const pod of await chosenPods(play, words, isTerminating)) {
    await play.api.delete(`pods/${nameOf(pod)}`, { gracePeriodSeconds: 0 })
    await settle(play)
  }
}

/** Runs `run|start|unready|succeed|fail [count] [selector] [exit=code]`: the kubelet's report on pods. */
async function report(play: Play, { verb, words }: Step): Promise<void> {
  const exit = words.find((word) => word.startsWith('exit='))
  // The verb is a member of PodEvent: podEvents contains it.
  const event = verb as PodEvent
  const exitCode = exit === undefined ? (event === 'fail' ? 1 : 0) : Number(exit.slice(5))
  const which = words.filter((word) => word !== exit)
  for (const pod of await chosenPods(play, which, (each) => isAhead(event, each))) {
    const time = new Date(play.world.now()).toISOString().replace(/\.\d+/, '')
    const status = statusAfter(event, pod, { time, exitCode })
    await play.api.patch(`pods/${nameOf(pod)}/status`, { status })
    await settle(play)
  }
}

const evolveMax = 100

/** Continues as the kubelet, one pod at a time: deleted pods end, the others run. */
async function evolve(play: Play, step: Step): Promise<void> {
  for (let round = 0; round < evolveMax; round += 1) {
    const pods = await chosenPods(play, [], (pod) => isTerminating(pod) || isAhead('run', pod))
    const [first] = pods
    if (!first) return
    const verb = isTerminating(first) ? gone : report
    await verb(play, { ...step, verb: 'run', words: [nameOf(first)] })
  }
  throw new Error(`Cannot go on until pods are at rest: they were not after ${evolveMax} changes`)
}

/** Chooses pods by count, by label selector, by their golden name, or all, in the order of their names. */
async function chosenPods(
  play: Play,
  words: readonly string[],
  isMeant: (pod: KubeFields) => boolean,
): Promise<KubeFields[]> {
  const count = words.find((word) => /^\d+$/.test(word))
  const selector = words.find((word) => word.includes('='))
  const name = words.find((word) => word !== count && word !== selector)
  await settle(play)
  const query = selector === undefined ? '' : `?labelSelector=${encodeURIComponent(selector)}`
  const pods = await play.api.list('pods', query)
  play.names.learn([{ resource: 'pods', objects: pods }])
  const shown = (pod: KubeFields): string => play.names.text(nameOf(pod))
  const chosen = pods
    .filter(
      (pod) => isMeant(pod) && (name === undefined || nameOf(pod) === play.names.actual(name)),
    )
    .toSorted((a, b) => compareNaturally(shown(a), shown(b)))
    .slice(0, Number(count ?? pods.length))
  if (count !== undefined && chosen.length < Number(count)) {
    throw new Error(`Cannot find ${count} such pods: there are ${chosen.length}`)
  }
  return chosen
}

function specOf({ spec }: KubeFields): Fields {
  return isFields(spec) ? spec : {}
}

const waitMsMax = 180_000
const waitStepMs = 100

/**
 * Runs e.g. `wait deployments/web status.conditions.Available.status = True`, `wait pods/a gone`, `wait pods
 * length = 2`.
 */
async function wait(
  play: Play,
  { words: [reference = '', path = '', , ...wanted] }: Step,
): Promise<void> {
  const want = wanted.join(' ')
  const isMet = async (): Promise<boolean> => {
    if (!reference.includes('/')) {
      return valueAt(await play.api.list(reference), path) === want
    }
    const object = await play.api.get(actual(play, reference))
    if (path === 'gone') return object === undefined
    const value = valueAt(object, path)
    return want === '' ? value !== undefined : value === want
  }
  for (let waited = 0; waited < waitMsMax; waited += waitStepMs) {
    if (await isMet()) return
    await play.world.pass(waitStepMs)
  }
  const state = JSON.stringify(
    reference.includes('/')
      ? await play.api.get(actual(play, reference))
      : await play.api.list(reference),
  )
  throw new Error(`Did not come in ${waitMsMax / 1_000} s; there is ${state}`)
}

/**
 * Returns the value at a path whose steps are names of fields, indexes of arrays, or the type or name of an
 * array's item.
 */
function valueAt(object: unknown, path: string): string | undefined {
  let value = object
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    const named = Array.isArray(value)
      ? value.find((item) => isFields(item) && (item['type'] === step || item['name'] === step))
      : undefined
    // Any JSON object or array may be indexed by a string.
    value = named ?? (value as Fields)[step]
  }
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

async function settle({ stillness, story }: Play): Promise<void> {
  await stillness?.settle(story.quietMs)
}

async function readShown({ story, api, made }: Play): Promise<Listed[]> {
  const lists: Listed[] = []
  for (const resource of story.show) {
    if (api.isNamespaced(resource)) lists.push({ resource, objects: await api.list(resource) })
  }
  for (const reference of made) {
    const [resource = ''] = reference.split('/')
    const object = await api.get(reference)
    if (object && story.show.includes(resource)) lists.push({ resource, objects: [object] })
  }
  return lists
}

async function startNamespace(play: Play): Promise<void> {
  const { story, api } = play
  await api.create({ kind: 'Namespace', metadata: { name: story.name } })
  play.made.push(`namespaces/${story.name}`)
  const step = {
    verb: 'wait',
    words: ['serviceaccounts/default', 'metadata.uid'],
    documents: [],
    text: '',
  }
  await wait(play, step)
}

/** The next story is played as if this one had not been. */
async function endNamespace({ api, made, world }: Play): Promise<void> {
  const [own = '', ...others] = made
  await api.delete(own)
  for (const reference of others.toReversed()) {
    await api.delete(reference, { gracePeriodSeconds: 0 })
  }
  for (const pod of await api.list('pods')) {
    await api.delete(`pods/${nameOf(pod)}`, { gracePeriodSeconds: 0 })
  }
  await world.pass(waitStepMs)
}
