/**
 * Plays the stories of dev/differential/scheduler with upstream's scheduler and with ours. Development only.
 *   node dev/hack/scheduler.ts record [names]    writes what upstream's does to dev/differential/scheduler/golden
 *   node dev/hack/scheduler.ts compare [names]   plays with upstream's and compares with what was recorded
 *   node dev/hack/scheduler.ts replay [names]    plays with ours and compares with what was recorded
 * A name is a part of a story's file name; none means all.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  formatGolden,
  goldenPath,
  readGolden,
  readStories,
} from '../differential/scheduler/corpus.ts'
import { startExtenderServer } from '../differential/scheduler/extender-server.ts'
import { admissionLeftOut, startOurServer } from '../differential/scheduler/our-scheduler.ts'
import { playOurs } from '../differential/scheduler/play-ours.ts'
import { runStory, type Sight } from '../differential/scheduler/run-story.ts'
import { configurationOf } from '../differential/scheduler/story-configuration.ts'
import type { Story } from '../differential/scheduler/story.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { startScheduler } from './upstream/run-scheduler.ts'
import { startUpstream, type RunningUpstream } from './upstream/run-upstream.ts'

/** The time without a change after which upstream's result is read. It is longer than its first backoff. */
const quietMs = 1_500

const [command = '', ...names] = process.argv.slice(2)
const commands: Readonly<Record<string, () => Promise<void>>> = { record, compare, replay }
const run = commands[command]
if (run) await run()
else {
  console.error(
    `Say one of ${Object.keys(commands).join(', ')}; the first lines of this file tell how`,
  )
  process.exitCode = 2
}

async function record(): Promise<void> {
  await withUpstream(async (story, sights) => {
    await writeFile(goldenPath(story.name), formatGolden(sights))
    console.log(`${story.name}: recorded`)
  })
}

async function compare(): Promise<void> {
  await withUpstream(async (story, sights) => report(story, readGolden(story.name), sights))
}

async function replay(): Promise<void> {
  await using server = await startOurServer()
  for (const story of readStories(names)) {
    const golden = readGolden(story.name)
    report(story, golden, await playOurs(story, golden, server))
  }
}

/** A new scheduler for each story, so that none remembers what another one did. */
async function withUpstream(
  use: (story: Story, sights: readonly Sight[]) => Promise<void>,
): Promise<void> {
  const bin = await buildUpstream(['etcd', 'kube-apiserver', 'kube-scheduler'])
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-scheduler-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const apiServerArguments = [`--disable-admission-plugins=${admissionLeftOut.join(',')}`]
  const upstream = stack.use(await startUpstream({ bin, directory, apiServerArguments }))
  for (const story of readStories(names)) {
    try {
      await use(story, await playUpstream(story, { upstream, bin, directory }))
    } catch (error) {
      console.error(`${story.name}:`, error)
      process.exitCode = 1
    }
  }
}

interface UpstreamParts {
  readonly upstream: RunningUpstream
  readonly bin: string
  readonly directory: string
}

async function playUpstream(
  story: Story,
  { upstream, bin, directory }: UpstreamParts,
): Promise<Sight[]> {
  await using extender = await startExtenderServer(story, upstream)
  await using _scheduler = await startScheduler({
    bin,
    directory,
    kubeconfigPath: upstream.kubeconfigPath,
    configuration: configurationOf(story, extender.url),
  })
  return await runStory(story, upstream, { quietMs })
}

function report({ name }: Story, golden: readonly Sight[], sights: readonly Sight[]): void {
  const different = golden.filter(({ text }, index) => sights[index]?.text !== text)
  const isSame = different.length === 0 && golden.length === sights.length
  console.log(`${name}: ${isSame ? 'alike' : `${different.length} sights differ`}`)
  if (isSame) return
  process.exitCode = 1
  for (const [index, { title, text }] of golden.entries()) {
    const seen = sights[index]?.text ?? ''
    if (seen === text) continue
    console.log(`  ${title}`)
    const lines = { recorded: text.split('\n'), now: seen.split('\n') }
    for (const line of lines.recorded) if (!lines.now.includes(line)) console.log(`    - ${line}`)
    for (const line of lines.now) if (!lines.recorded.includes(line)) console.log(`    + ${line}`)
  }
}
