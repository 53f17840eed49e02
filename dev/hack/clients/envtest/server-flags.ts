import { parseArgs } from 'node:util'

/** The flags of an upstream server, given as `--name=value`, by name. */
export interface Flags {
  /** Returns the flag's value. Without a default the flag must exist. */
  one(name: string, otherwise?: string): string
  /** Returns the values of repeated flags and of comma-separated lists. */
  all(name: string): string[]
}

/** Takes every flag: what envtest and its users pass has no effect here unless it is read. */
export function readFlags(): Flags {
  const given = new Map<string, string[]>()
  for (const token of parseArgs({ strict: false, tokens: true }).tokens) {
    if (token.kind !== 'option' || token.value === undefined) continue
    given.set(token.name, [...(given.get(token.name) ?? []), token.value])
  }
  return {
    one(name, otherwise) {
      const value = given.get(name)?.at(-1) ?? otherwise
      if (value === undefined) throw new RangeError(`Cannot start: --${name} is needed`)
      return value
    },
    all: (name) => (given.get(name) ?? []).flatMap((value) => value.split(',')),
  }
}
