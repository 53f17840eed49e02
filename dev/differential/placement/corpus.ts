import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseWorld, type World } from './world.ts'

const root = import.meta.dirname

/** A scheduler's result for a binding. */
export interface Outcome {
  /** The clusters as `a:2 b:1`, in the order of the binding. */
  readonly clusters: string
  /** The reason of the condition Scheduled; empty if the binding was held back. */
  readonly reason: string
  readonly message: string
  readonly affinityName?: string
}

export type Outcomes = Readonly<Record<string, Outcome>>

/** Reads every world, or those whose name contains one of the given parts. */
export function readWorlds(parts: readonly string[] = []): World[] {
  return globSync('*.yaml', { cwd: join(root, 'worlds') })
    .map((file) => basename(file, '.yaml'))
    .toSorted()
    .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
    .map((name) => parseWorld(name, readFileSync(worldPath(name), 'utf8')))
}

export function worldPath(name: string): string {
  return join(root, 'worlds', `${name}.yaml`)
}

export function goldenPath(name: string): string {
  return join(root, 'golden', `${name}.json`)
}

/** Reads the recorded results of upstream's scheduler. */
export function readGolden(name: string): Outcomes {
  const path = goldenPath(name)
  if (!existsSync(path))
    throw new Error(
      `Cannot replay ${name}: record it first (node_modules/.bin/node dev/hack/karmada-placement.ts record)`,
    )
  // The command `record` writes this type.
  return JSON.parse(readFileSync(path, 'utf8')) as Outcomes
}
