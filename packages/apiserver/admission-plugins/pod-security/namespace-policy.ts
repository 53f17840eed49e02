import { fieldInvalid, type AnyObject, type KubeObject, type StatusCause } from '@skerry/api'
import type { MinorVersion, PodSecurityLevel } from './check-table.ts'

export const labelPrefix = 'pod-security.kubernetes.io/'

export type PolicyMode = 'enforce' | 'audit' | 'warn'

export interface LevelVersion {
  readonly level: PodSecurityLevel
  readonly minor: MinorVersion
}

export type PodSecurityPolicy = Readonly<Record<PolicyMode, LevelVersion>>

const levels: readonly PodSecurityLevel[] = ['privileged', 'baseline', 'restricted']
const modes: readonly PolicyMode[] = ['enforce', 'audit', 'warn']

/** Formats a level and its version as in messages, e.g. `baseline:v1.24`. */
export function levelText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`
}

export function isStricter(a: LevelVersion, b: LevelVersion): boolean {
  return levels.indexOf(a.level) > levels.indexOf(b.level)
}

/**
 * Reads the policy from the labels. If the labels set only `enforce`, its violations cause warnings
 * as well.
 */
export function policyOf(namespace: KubeObject): PodSecurityPolicy {
  const enforce = readMode(namespace, 'enforce')
  const audit = readMode(namespace, 'audit')
  const warn = readMode(namespace, 'warn')
  const { labels = {} } = namespace.metadata
  const isOwn = labels[`${labelPrefix}warn`] !== undefined
  const isKnown = parseLevel(labels[`${labelPrefix}enforce`] ?? '') !== undefined
  if (isOwn || !isKnown || !isStricter(enforce, warn)) return { enforce, audit, warn }
  const hasVersion = labels[`${labelPrefix}warn-version`] !== undefined
  const minor = hasVersion ? warn.minor : enforce.minor
  return { enforce, audit, warn: { level: enforce.level, minor } }
}

/** Lists the errors of the labels, in upstream's words. */
export function labelProblems({ metadata: { labels = {} } }: AnyObject): StatusCause[] {
  return modes.flatMap((mode) => {
    const [levelKey, versionKey] = [`${labelPrefix}${mode}`, `${labelPrefix}${mode}-version`]
    const [level, version] = [labels[levelKey], labels[versionKey]]
    const found: StatusCause[] = []
    if (level !== undefined && parseLevel(level) === undefined) {
      const detail = `must be one of ${levels.join(', ')}`
      found.push(fieldInvalid(`metadata.labels[${levelKey}]`, level, detail))
    }
    if (version !== undefined && parseVersion(version) === undefined) {
      const detail = 'must be "latest" or "v1.x"'
      found.push(fieldInvalid(`metadata.labels[${versionKey}]`, version, detail))
    }
    return found
  })
}

function readMode({ metadata: { labels = {} } }: KubeObject, mode: PolicyMode): LevelVersion {
  const level = labels[`${labelPrefix}${mode}`] ?? 'privileged'
  const version = labels[`${labelPrefix}${mode}-version`] ?? 'latest'
  // A misspelt level is enforced as the strictest one, so that a typo never weakens security.
  const misspelt = mode === 'enforce' ? 'restricted' : 'privileged'
  return { level: parseLevel(level) ?? misspelt, minor: parseVersion(version) ?? Infinity }
}

function parseLevel(text: string): PodSecurityLevel | undefined {
  return levels.find((level) => level === text)
}

/** A number beyond a double's exact range is not a version; upstream's bound is 64 bits. */
function parseVersion(text: string): MinorVersion | undefined {
  if (text === 'latest') return Infinity
  const digits = /^v1\.(0|[1-9]\d*)$/.exec(text)?.[1]
  const minor = Number(digits ?? Number.NaN)
  return Number.isSafeInteger(minor) ? minor : undefined
}
