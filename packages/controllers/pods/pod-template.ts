import type { PodTemplateSpec } from '@skerry/api'
import { fnv1a } from './fnv.ts'
import { templateText } from './template-text.ts'

export const podTemplateHashLabel = 'pod-template-hash'

/** Consonants and digits that spell no words and look alike in no font; Kubernetes' own choice. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
/** The count is written as 32 bits into so many. */
const collisionBytes = 8

/**
 * A short name for a template, the one that Kubernetes gives it: FNV-1a over its fields, and over the count
 * of collisions where there were some.
 */
export function templateHash(
  template: PodTemplateSpec,
  collisionCount: number | undefined,
): string {
  const parts = [Buffer.from(templateText(template))]
  if (collisionCount !== undefined) {
    const count = Buffer.alloc(collisionBytes)
    count.writeUInt32LE(collisionCount)
    parts.push(count)
  }
  return safeText(fnv1a(Buffer.concat(parts)))
}

/** A hash as a part of names: each digit by its character's number, in the alphabet above. */
export function safeText(hash: number): string {
  let text = ''
  for (const digit of `${hash}`) text += alphabet[digit.charCodeAt(0) % alphabet.length]
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
