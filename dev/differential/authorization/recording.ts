import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatJson } from '../golden.ts'
import type { PlayedEffect } from './play-effects.ts'
import { gunzipSync, gzipSync } from 'node:zlib'

/** A request line. */
export interface AskedTarget {
  readonly method: string
  readonly target: string
}

/** A question to an authorizer: `resourceAttributes` or `nonResourceAttributes` of a SubjectAccessReview. */
export type Question = Readonly<Record<string, unknown>>

/** The result of a request whose first question was denied. */
export interface RecordedTarget extends AskedTarget {
  readonly status: number
  readonly questions: readonly Question[]
}

export const targetsPath = join(import.meta.dirname, 'targets.jsonl.gz')

export function readTargets(): RecordedTarget[] {
  const lines = gunzipSync(readFileSync(targetsPath)).toString().trimEnd().split('\n')
  return lines.map((line) => {
    // formatTargets writes this type.
    const [method, target, status, ...questions] = JSON.parse(line) as [
      string,
      string,
      number,
      ...Question[],
    ]
    return { method, target, status, questions }
  })
}

export function formatTargets(targets: readonly RecordedTarget[]): Uint8Array {
  const lines = targets.map(({ method, target, status, questions }) =>
    JSON.stringify([method, target, status, ...questions]),
  )
  return gzipSync(`${lines.join('\n')}\n`, { level: 9 })
}

export const effectsPath = join(import.meta.dirname, 'effects.golden')

export function readEffects(): PlayedEffect[] {
  // formatEffects writes this type.
  return JSON.parse(readFileSync(effectsPath, 'utf8')) as PlayedEffect[]
}

export function formatEffects(effects: readonly PlayedEffect[]): string {
  return `${formatJson(effects, '')}\n`
}

/** The question without the user, with its fields in one order. */
export function questionOf(spec: Readonly<Record<string, unknown>>): Question {
  const { resourceAttributes, nonResourceAttributes } = spec
  return sorted(resourceAttributes ?? nonResourceAttributes ?? {})
}

function sorted(value: unknown): Question {
  const text = JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
  return JSON.parse(text)
}

/**
 * Returns the answer that a user's name prescribes, so that upstream's webhook and our authorizer need no
 * other agreement: `…-allow` is allowed everything, `…-deny-2` everything but the third question, `…-only-2`
 * the first two.
 */
export function isAllowed(user: string, asked: number): boolean {
  const denied = /-deny-(\d+)$/.exec(user)?.[1]
  if (denied !== undefined) return Number(denied) !== asked
  const allowed = /-only-(\d+)$/.exec(user)?.[1]
  return allowed === undefined || asked < Number(allowed)
}
