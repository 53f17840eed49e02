import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { conformanceList } from './build-suite.ts'
import { podlessTests } from './podless-table.ts'

/** Lists every conformance test of this version of Kubernetes, by its exact name, sorted. */
export async function conformanceTests(): Promise<string[]> {
  const parsed: unknown = parse(await readFile(conformanceList(), 'utf8'))
  if (!Array.isArray(parsed)) throw new TypeError('Cannot read the list of tests: it is not a list')
  return parsed
    .map((entry: unknown) => {
      const hasName = typeof entry === 'object' && entry !== null && 'codename' in entry
      return hasName ? String(entry.codename) : ''
    })
    .filter((name) => name !== '')
    .toSorted()
}

/** True if no container has to run for it. */
export function isPodless(name: string): boolean {
  return podlessTests.some((start) => name.startsWith(start))
}

/** Returns true if it must not run at the same time as others. */
export function isSerial(name: string): boolean {
  return /\[(Serial|Disruptive)\]/.test(name)
}

/** The part of Kubernetes it belongs to, e.g. api-machinery. */
export function areaOf(name: string): string {
  return /^\[sig-([\w-]+)\]/.exec(name)?.[1] ?? 'other'
}
