import { createHash } from 'node:crypto'
import type { PodTemplateSpec } from '@skerry/api'

export const podTemplateHashLabel = 'pod-template-hash'

/** Consonants and digits that spell no words and look alike in no font; Kubernetes' own choice. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const hashLength = 10

/** A short name for a template: equal templates have equal names, whatever the order of their fields. */
export function templateHash(template: unknown, collisionCount: number | undefined): string {
  const hash = createHash('sha256').update(canonicalText(template))
  if (collisionCount !== undefined) hash.update(`#${collisionCount}`)
  const digest = hash.digest()
  let text = ''
  for (const byte of digest.subarray(0, hashLength)) text += alphabet[byte % alphabet.length]
  return text
}

/** The same pods come out of both. The hash label does not count: only one side may carry it yet. */
export function sameTemplate(
  first: PodTemplateSpec | undefined,
  second: PodTemplateSpec | undefined,
): boolean {
  return canonicalText(withoutHash(first)) === canonicalText(withoutHash(second))
}

function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  const labels = template?.metadata?.labels
  if (!labels || labels[podTemplateHashLabel] === undefined) return template
  const { [podTemplateHashLabel]: _, ...others } = labels
  return { ...template, metadata: { ...template?.metadata, labels: others } }
}

/** JSON with sorted names; null, empty lists and empty objects count as absent, as they do in Go. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(canonical(value)) ?? ''
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => canonical(item) ?? null)
  if (typeof value !== 'object' || value === null) return value ?? undefined
  const fields: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (Array.isArray(field) && field.length === 0) continue
    const kept = canonical(field)
    if (kept !== undefined) fields[name] = kept
  }
  return Object.keys(fields).length === 0 ? undefined : fields
}
