import type { PodTemplateSpec } from '@skerry/api'
import { fnv1a } from './fnv.ts'
import { templateText } from './template-text.ts'

export const podTemplateHashLabel = 'pod-template-hash'

/** Consonants and digits that spell no words and look alike in no font. Kubernetes' own choice. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
/** The count is written as 32 bits into this many bytes. */
const collisionBytes = 8

/**
 * Returns Kubernetes' short name for a template: FNV-1a over its fields, and over the count of
 * collisions if there were some.
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

/** Encodes a hash for names: each digit by its character code, in the alphabet above. */
export function safeText(hash: number): string {
  let text = ''
  for (const digit of `${hash}`) text += alphabet[digit.charCodeAt(0) % alphabet.length]
  return text
}

/**
 * Returns true if both create the same pods. The hash label is ignored, because only one side may
 * have it yet.
 */
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

/** Returns JSON with sorted names; null, empty lists and empty objects count as omitted, as in Go. */
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
