/**
 * Plays the stories of dev/differential/edge-apps with the systems' own controllers and with ours.
 *   node dev/hack/edge-apps.ts record [names]    writes what theirs do to dev/differential/edge-apps/golden
 *   node dev/hack/edge-apps.ts replay [names]    compares ours with what was recorded
 * Both work on our API server, with our other controllers. Recording needs the Go toolchain and its module proxy; the
 * first time for stories of KubeEdge, --clone <directory> names a clone of its repository at the version that
 * docs/differences.md names. --logs <directory> keeps what the programs print.
 */
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { namedControllers, runControllers } from '@skerry/controllers'
import { startTestApiServer } from '@skerry/testing'
import { formatDifference } from '../differential/compare.ts'
import {
  compareCheckpoints,
  goldenPath,
  readGolden,
  readStories,
} from '../differential/controllers/corpus.ts'
import { formatCheckpoints } from '../differential/controllers/golden.ts'
import { playStory } from '../differential/controllers/play-story.ts'
import type { StoryWorld } from '../differential/controllers/story-world.ts'
import type { Story } from '../differential/controllers/story.ts'
import { explanationOf } from '../differential/edge-apps/explained-differences.ts'
import {
  definedKinds,
  startEdgeStories,
  storyKinds,
  storyRoot,
  systemOf,
} from '../differential/edge-apps/edge-world.ts'
import { withNumberedRevisions } from '../differential/edge-apps/numbered-revisions.ts'
import {
  definitionsOf,
  edgeOriginals,
  type OriginalProgram,
} from './upstream/edge-originals-table.ts'
import { runProgram } from './upstream/run-program.ts'
import { watchPaths } from './upstream/upstream-world.ts'

/** The controllers say nothing when they have read the cluster. */
const startMs = 5_000

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { clone: { type: 'string' }, logs: { type: 'string' } },
})
const [command = '', ...names] = positionals
const stories = readStories(names, storyRoot)
if (command === 'record') await record()
else if (command === 'replay') await replay()
else {
  console.error('Say record or replay; the first lines of this file tell how')
  process.exitCode = 2
}

async function record(): Promise<void> {
  for (const [system, some] of Map.groupBy(stories, ({ name }) => systemOf(name))) {
    await using world = await startOriginal(system)
    for (const story of some) {
      const checkpoints = await playStory(story, world)
      await writeFile(goldenPath(story.name, storyRoot), formatCheckpoints(checkpoints))
      console.log(`${story.name}: recorded ${checkpoints.length} chapters`)
    }
  }
}

async function replay(): Promise<void> {
  for (const [system, some] of Map.groupBy(stories, ({ name }) => systemOf(name))) {
    await using world = await startEdgeStories(system)
    await replayAll(some, world)
  }
}

async function replayAll(some: readonly Story[], world: StoryWorld): Promise<void> {
  for (const story of some) {
    const golden = readGolden(story.name, storyRoot)
    const played = withNumberedRevisions(await playStory(story, world))
    const found = compareCheckpoints(story.name, withNumberedRevisions(golden), played)
    const rest = found.filter((each) => explanationOf(each) === undefined)
    console.log(`${story.name}: ${rest.length} of ${found.length} differences are unexplained`)
    for (const { chapter, object, ...each } of rest) {
      console.log(formatDifference({ exchange: `${chapter} · ${object}`, ...each }))
    }
    if (rest.length > 0) process.exitCode = 1
  }
}

/** A program that is built. */
interface RunnableProgram extends Omit<OriginalProgram, 'build'> {
  readonly path: string
}

/** Starts our API server and controllers with a system's own controllers of its kinds, in real time. */
async function startOriginal(system: string): Promise<StoryWorld & AsyncDisposable> {
  const original = edgeOriginals[system]
  if (!original) throw new Error(`Cannot record stories of ${system}: it is not built here`)
  const definitions = definitionsOf([...definedKinds(system), ...original.further])
  const programs: RunnableProgram[] = []
  for (const { build, ...program } of original.programs) {
    programs.push({ path: await build(definitions, values.clone), ...program })
  }
  await using stack = new AsyncDisposableStack()
  const api = stack.use(
    await startTestApiServer({
      withAccess: true,
      namespaces: [
        'default',
        'kube-system',
        'kube-public',
        'kube-node-lease',
        ...original.namespaces,
      ],
    }),
  )
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'stories' })
  const scope = stack.use(linkedSignal(new AbortController().signal))
  const running = runControllers(namedControllers('all'), { ...deps, cluster }, scope.signal)
  const ended = running.catch((error: unknown) => {
    if (!scope.signal.aborted) throw error
  })
  stack.defer(async () => {
    scope.abort(new Error('The stories are over'))
    await ended
  })
  for (const definition of definitions) {
    await cluster.resource(resources.customResourceDefinitions).create(definition, scope.signal)
  }
  await original.prepare?.(cluster, scope.signal)
  const directory = dirname(api.kubeconfigPath)
  for (const { path, args, environment = () => ({}) } of programs) {
    const program = { path, args: args(api.kubeconfigPath), environment: environment(directory) }
    const logPath = join(values.logs ?? directory, `${basename(path)}.log`)
    stack.use(await runProgram({ ...program, logPath }))
  }
  await sleep(startMs)
  const owned = stack.move()
  return {
    subject: api,
    kinds: storyKinds(system),
    now: () => Date.now(),
    pass: (ms) => sleep(ms),
    observe: (paths) => watchPaths(api, paths),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
