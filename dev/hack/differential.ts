/**
 * Sends the scripts of differential/ to upstream's API server and to ours. Development only.
 *   node dev/hack/differential.ts record [names]    writes what upstream answers to dev/differential/golden
 *   node dev/hack/differential.ts compare [names]   asks both and prints where they differ
 *   node dev/hack/differential.ts replay [names]    compares ours with what was recorded
 *   node dev/hack/differential.ts generate --seed <n> --count <n> [--add]   sends random requests to both
 *   node dev/hack/differential.ts custom --seed <n> --count <n> [--add]   the same for random definitions
 *   node dev/hack/differential.ts kinds             writes the scripts kind-* from kind-examples.yaml
 *   node dev/hack/differential.ts nodes             writes node-mirror-pods and node-reads from podReferences
 * A name is a part of a script's file name; none means all.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { formatDifference, type Difference } from '../differential/compare.ts'
import {
  betaPrefix,
  goldenPath,
  readGolden,
  readScripts,
  runOurs,
  startOurs,
  unexplained,
} from '../differential/corpus.ts'
import { formatGolden } from '../differential/golden.ts'
import { runScript } from '../differential/run-script.ts'
import { parseScript, type Script } from '../differential/script.ts'
import type { Subject } from '../differential/subject.ts'
import { generateCustomScript } from './differential/custom-scripts.ts'
import { generateScript } from './differential/generated-scripts.ts'
import { kindScripts } from './differential/kind-scripts.ts'
import { nodeScripts } from './differential/node-scripts.ts'
import { showGenerated } from './differential/show-differences.ts'
import { betaArguments } from './upstream/beta-arguments.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { startUpstream } from './upstream/run-upstream.ts'

const folder = join(import.meta.dirname, '..', 'differential')
const addRoundsMax = 5

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    add: { type: 'boolean', default: false },
  },
})
const [command = '', ...names] = positionals
const commands: Readonly<Record<string, () => Promise<void>>> = {
  record,
  compare,
  replay,
  kinds,
  nodes,
  generate,
  custom,
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
  await withBoth(async (script, upstream, ours) => {
    const answers = await runScript(script, upstream)
    await writeFile(goldenPath(script.name), formatGolden(answers))
    report(script.name, unexplained(script, answers, await runScript(script, ours)))
  })
}

async function compare(): Promise<void> {
  await withBoth(async (script, upstream, ours) => {
    const answers = await runScript(script, upstream)
    report(script.name, unexplained(script, answers, await runScript(script, ours)))
  })
}

async function replay(): Promise<void> {
  for await (const { script, answers } of runOurs(readScripts(names))) {
    report(script.name, unexplained(script, readGolden(script.name), answers))
  }
}

/** Sends random requests; with --add those with equal answers become a script. */
async function generate(): Promise<void> {
  const seed = Number(values.seed)
  const name = `generated-${seed}`
  const examples = join(folder, 'kind-examples.yaml')
  await compareGenerated(
    name,
    await generateScript({ seed, count: Number(values.count), name }, examples),
  )
}

async function custom(): Promise<void> {
  const seed = Number(values.seed)
  const name = `crd-${seed}`
  await compareGenerated(name, generateCustomScript({ seed, count: Number(values.count), name }))
}

async function compareGenerated(name: string, text: string): Promise<void> {
  let script = parseScript(name, text)
  let found: readonly Difference[] = []
  let kept = text
  const roundsMax = values.add ? addRoundsMax : 1
  for (let round = 1; round <= roundsMax; round += 1) {
    await using upstream = await startEmptyUpstream(false)
    await using ours = await startOurs(false)
    const answers = {
      upstream: await runScript(script, upstream),
      ours: await runScript(script, ours),
    }
    found = unexplained(script, answers.upstream, answers.ours)
    console.log(showGenerated(script, found, answers))
    if (!values.add) break
    if (found.length === 0) {
      await writeFile(join(folder, 'scripts', `${name}.http`), kept)
      await writeFile(goldenPath(name), formatGolden(answers.upstream))
      return
    }
    kept = withoutExchanges(kept, new Set(found.map(({ exchange }) => exchange)))
    script = parseScript(name, kept)
  }
  if (found.length > 0) process.exitCode = 1
}

function withoutExchanges(text: string, names: ReadonlySet<string>): string {
  return text
    .split(/^(?=### )/m)
    .filter((section) => !names.has(/^### (.*)$/m.exec(section)?.[1]?.trim() ?? ''))
    .join('')
}

async function kinds(): Promise<void> {
  for (const [name, text] of await kindScripts(join(folder, 'kind-examples.yaml'))) {
    await writeFile(join(folder, 'scripts', `${name}.http`), text)
  }
}

async function nodes(): Promise<void> {
  for (const [name, text] of nodeScripts()) {
    await writeFile(join(folder, 'scripts', `${name}.http`), text)
  }
}

function report(script: string, differences: readonly Difference[]): void {
  const exchanges = new Set(differences.map(({ exchange }) => exchange))
  console.log(`${script}: ${exchanges.size} exchanges differ`)
  for (const difference of differences) console.log(formatDifference(difference))
  if (differences.length > 0) process.exitCode = 1
}

/** Both with their defaults, then both with beta versions, each only when a script needs it. */
async function withBoth(
  use: (script: Script, upstream: Subject, ours: Subject) => Promise<void>,
): Promise<void> {
  for (const withBeta of [false, true]) {
    const scripts = readScripts(names).filter(
      ({ name }) => name.startsWith(betaPrefix) === withBeta,
    )
    if (scripts.length === 0) continue
    await using upstream = await startEmptyUpstream(withBeta)
    await using ours = await startOurs(withBeta)
    for (const script of scripts) await use(script, upstream, ours)
  }
}

async function startEmptyUpstream(withBeta: boolean): Promise<Subject & AsyncDisposable> {
  const bin = await buildUpstream(['etcd', 'kube-apiserver'])
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-upstream-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  // Ours restricts nodes by default, as installers of upstream configure it.
  const restricted = '--enable-admission-plugins=NodeRestriction'
  const apiServerArguments = [restricted, ...(withBeta ? betaArguments() : [])]
  const { url, credentials } = stack.use(
    await startUpstream({ bin, directory, apiServerArguments }),
  )
  const owned = stack.move()
  return { url, credentials, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
