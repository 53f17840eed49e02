/**
 * Sends the scripts of differential/ to upstream's API server and to ours. Development only.
 *   node hack/differential.ts record [names]    writes what upstream answers to differential/golden
 *   node hack/differential.ts compare [names]   asks both and prints where they differ
 *   node hack/differential.ts replay [names]    compares ours with what was recorded
 *   node hack/differential.ts open              lists anew what differs from the recordings
 *   node hack/differential.ts kinds             writes the scripts kind-* from kind-examples.yaml
 * A name is a part of a script's file name; none means all.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { formatDifference, type Difference } from '../differential/compare.ts'
import {
  betaPrefix,
  betaSwitches,
  goldenPath,
  openPath,
  readGolden,
  readScripts,
  runOurs,
  unexplained,
} from '../differential/corpus.ts'
import { formatGolden } from '../differential/golden.ts'
import { runScript } from '../differential/run-script.ts'
import type { Script } from '../differential/script.ts'
import { kindScripts } from './differential-kinds.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { startUpstream, type RunningUpstream } from './upstream/run-upstream.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [command = '', ...names] = positionals
const commands: Readonly<Record<string, () => Promise<void>>> = {
  record,
  compare,
  replay,
  open,
  kinds,
}
const run = commands[command]
if (run) await run()
else {
  console.error(
    `Say one of ${Object.keys(commands).join(', ')}; the first lines of this file tell how`,
  )
  process.exitCode = 2
}

async function record(): Promise<void> {
  await withUpstream(async (scripts, upstream) => {
    for (const script of scripts) {
      const answers = await runScript(script, upstream)
      await writeFile(goldenPath(script.name), formatGolden(answers))
      report(script.name, unexplained(script, answers, await runOurs(script)))
    }
  })
}

async function compare(): Promise<void> {
  await withUpstream(async (scripts, upstream) => {
    for (const script of scripts) {
      const answers = await runScript(script, upstream)
      report(script.name, unexplained(script, answers, await runOurs(script)))
    }
  })
}

async function replay(): Promise<void> {
  for (const script of readScripts(names)) {
    report(script.name, unexplained(script, readGolden(script.name), await runOurs(script)))
  }
}

async function open(): Promise<void> {
  const lines = new Set<string>()
  for (const script of readScripts()) {
    const found = unexplained(script, readGolden(script.name), await runOurs(script))
    for (const { exchange } of found) lines.add(`${script.name}: ${exchange}`)
  }
  await writeFile(openPath, [...lines, ''].join('\n'))
  console.log(`${lines.size} exchanges differ`)
}

async function kinds(): Promise<void> {
  const folder = join(import.meta.dirname, '..', 'differential')
  for (const [name, text] of await kindScripts(join(folder, 'kind-examples.yaml'))) {
    await writeFile(join(folder, 'scripts', `${name}.http`), text)
  }
}

function report(script: string, differences: readonly Difference[]): void {
  const exchanges = new Set(differences.map(({ exchange }) => exchange))
  console.log(`${script}: ${exchanges.size} exchanges differ`)
  for (const difference of differences) console.log(formatDifference(difference))
  if (differences.length > 0) process.exitCode = 1
}

/** One upstream with its defaults, and one with beta versions, each only when a script needs it. */
async function withUpstream(
  use: (scripts: readonly Script[], upstream: RunningUpstream) => Promise<void>,
): Promise<void> {
  const bin = await buildUpstream(['etcd', 'kube-apiserver'])
  const isBeta = ({ name }: Script): boolean => name.startsWith(betaPrefix)
  const all = readScripts(names)
  const parts: [scripts: Script[], apiServerArguments: string[]][] = [
    [all.filter((script) => !isBeta(script)), []],
    [all.filter(isBeta), betaArguments()],
  ]
  for (const [scripts, apiServerArguments] of parts) {
    if (scripts.length === 0) continue
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-upstream-'))
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
    await use(scripts, stack.use(await startUpstream({ bin, directory, apiServerArguments })))
  }
}

function betaArguments(): string[] {
  const list = (record: Readonly<Record<string, string>>): string =>
    Object.entries(record)
      .map(([key, value]) => `${key}=${value}`)
      .join(',')
  const { runtimeConfig, featureGates } = betaSwitches
  return [`--runtime-config=${list(runtimeConfig)}`, `--feature-gates=${list(featureGates)}`]
}
