/**
 * Records what Karmada's own functions answer, for tests that replay it:
 *   node dev/hack/fleet-vectors.ts
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { interpreterCases } from '../differential/interpreter/cases.ts'
import { overrideCases } from '../differential/overrides/cases.ts'
import { askKarmada, type OracleAnswer } from './fleet-vectors/run-oracle.ts'

const overrides = askKarmada(overrideCases.map((each) => ({ operation: 'Override', ...each })))
record(
  'overrides',
  overrideCases.map(({ name }) => name),
  overrides,
)

record(
  'interpreter',
  interpreterCases.map(({ name }) => name),
  askKarmada(interpreterCases.map((each) => ({ ...each }))),
)

function record(topic: string, names: readonly string[], answers: readonly OracleAnswer[]): void {
  // Writes one answer a line, so that a diff shows each change.
  const lines = names.map((name, at) => `${JSON.stringify(name)}: ${JSON.stringify(answers[at])}`)
  const file = join(import.meta.dirname, `../differential/${topic}/testdata/answers.json`)
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
  console.log(`${topic}: ${new Set(names).size} answers`)
}
