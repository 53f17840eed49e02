/**
 * Asks Karmada's own scheduler where the bindings of dev/differential/placement go. Development only.
 *   node dev/hack/karmada-placement.ts record [names]              writes what it does to dev/differential/placement/golden
 *   node dev/hack/karmada-placement.ts compare [names]             asks it again, and compares with what was recorded
 *   node dev/hack/karmada-placement.ts replay [names]              compares ours with what was recorded
 *   node dev/hack/karmada-placement.ts generate <seed> <worlds>    writes random worlds, to be recorded
 * A name is a part of a world's file name; none means all.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  goldenPath,
  readGolden,
  readWorlds,
  worldPath,
  type Outcomes,
} from '../differential/placement/corpus.ts'
import { differenceOf } from '../differential/placement/difference.ts'
import { playOurs } from '../differential/placement/play-ours.ts'
import type { World } from '../differential/placement/world.ts'
import { startPlacementUpstream } from './karmada/placement-upstream.ts'
import { randomWorlds } from './karmada/random-worlds.ts'

const [command = '', ...names] = process.argv.slice(2)
const commands: Readonly<Record<string, () => Promise<void>>> = {
  record,
  compare,
  replay,
  generate,
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
  await withUpstream(async (world, outcomes) => {
    await writeFile(goldenPath(world.name), `${JSON.stringify(outcomes, null, 1)}\n`)
    report(world, outcomes)
  })
}

async function compare(): Promise<void> {
  await withUpstream(async ({ name }, outcomes) => {
    const golden = readGolden(name)
    for (const [each, outcome] of Object.entries(outcomes)) {
      if (JSON.stringify(golden[each]) === JSON.stringify(outcome)) continue
      console.log(
        `${name}/${each}: ${JSON.stringify(golden[each])}, now ${JSON.stringify(outcome)}`,
      )
    }
  })
}

async function replay(): Promise<void> {
  for (const world of readWorlds(names)) report(world, readGolden(world.name))
}

async function generate(): Promise<void> {
  const [seed = 1, count = 1] = names.map(Number)
  for (const { name, text } of randomWorlds(seed, count)) await writeFile(worldPath(name), text)
}

async function withUpstream(
  use: (world: World, outcomes: Outcomes) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-placement-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const upstream = stack.use(await startPlacementUpstream(directory))
  for (const world of readWorlds(names)) await use(world, await upstream.play(world))
}

function report(world: World, golden: Outcomes): void {
  let alike = 0
  for (const [name, outcome] of playOurs(world)) {
    const difference = differenceOf(golden[name], outcome, { world, binding: name })
    if (difference === undefined) alike += 1
    else console.log(`${world.name}/${name}: ${difference}`)
  }
  console.log(`${world.name}: ${alike} of ${world.bindings.length} alike`)
  if (alike !== world.bindings.length) process.exitCode = 1
}
