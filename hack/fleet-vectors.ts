/**
 * Records what Karmada's own functions answer, for tests that replay it:
 *   node hack/fleet-vectors.ts
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { overrideCases } from '../differential/overrides/cases.ts'
import { askKarmada, type OracleAnswer } from './fleet-vectors/run-oracle.ts'

const overrides = askKarmada(overrideCases.map((each) => ({ operation: 'Override', ...each })))
record(
  'overrides',
  overrideCases.map(({ name }) => name),
  overrides,
)

function record(topic: string, names: readonly string[], answers: readonly OracleAnswer[]): void {
  const entries = names.map((name, at) => [name, answers[at]] as const)
  const file = join(import.meta.dirname, `../differential/${topic}/answers.json`)
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 1)}\n`)
  console.log(`${topic}: ${entries.length} answers, ${new Set(names).size} names`)
}
