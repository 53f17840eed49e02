import { isSame } from './checks.ts'

/** Writes two lines for each field that differs, where upstream prints a diff of the two. */
export function changedFields(next: object, old: object): string {
  const values = new Map<string, unknown>(Object.entries(next))
  const before = new Map<string, unknown>(Object.entries(old))
  const names = new Set([...values.keys(), ...before.keys()])
  return [...names]
    .filter((name) => !isSame(values.get(name), before.get(name)))
    .toSorted()
    .map((name) => `-${show(name, before.get(name))}\n+${show(name, values.get(name))}\n`)
    .join('')
}

function show(name: string, value: unknown): string {
  return ` ${name}: ${JSON.stringify(value) ?? 'null'}`
}
