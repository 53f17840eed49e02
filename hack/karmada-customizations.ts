/**
 * Records what `karmadactl interpret` answers, for the test that replays it:
 *   node hack/karmada-customizations.ts
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import {
  customizationCases,
  ruleOfOperation,
  type CustomizationCase,
} from '../differential/customizations/cases.ts'
import { defaultKarmadaCache } from './upstream/karmada-build.ts'

const karmadactl = join(defaultKarmadaCache, 'bin', 'karmadactl')
const directory = mkdtempSync(join(tmpdir(), 'skerry-customizations-'))
const answersFile = join(
  import.meta.dirname,
  '../differential/customizations/testdata/answers.json',
)

try {
  // One answer a line, so that a change of one shows as such.
  const lines = customizationCases.map(
    (each) => `${JSON.stringify(each.name)}: ${JSON.stringify(answerTo(each))}`,
  )
  writeFileSync(answersFile, `{\n${lines.join(',\n')}\n}\n`)
  console.log(`customizations: ${lines.length} answers`)
} finally {
  rmSync(directory, { recursive: true })
}

/** Its results in their order, or that there is an error. */
function answerTo(asked: CustomizationCase): { results: unknown[] } | { error: string } {
  const { operation, object, observed, replicas, items } = asked
  const args = [
    'interpret',
    `--filename=${fileOf('customization', customizationOf(asked))}`,
    `--operation=${operation}`,
    `--desired-file=${fileOf('desired', object)}`,
    ...(observed ? [`--observed-file=${fileOf('observed', observed)}`] : []),
    ...(replicas === undefined ? [] : [`--desired-replica=${replicas}`]),
    ...(items ? [`--status-file=${fileOf('items', ...items)}`] : []),
  ]
  const { stdout, stderr } = spawnSync(karmadactl, args, { encoding: 'utf8' })
  // Beside it there may be lines of a log.
  const failed = stderr.split('\n').find((line) => line.startsWith('Execute'))
  if (failed !== undefined) return { error: failed }
  const documents = parseAllDocuments(stdout)
  if ('empty' in documents) return { results: [] }
  return { results: documents.map((each): unknown => each.toJSON()) }
}

function customizationOf({ operation, script, object }: CustomizationCase): object {
  const { apiVersion, kind } = object
  return {
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterCustomization',
    metadata: { name: 'recorded' },
    spec: {
      target: { apiVersion, kind },
      customizations: { [ruleOfOperation[operation]]: { luaScript: script } },
    },
  }
}

function fileOf(name: string, ...objects: readonly object[]): string {
  const file = join(directory, `${name}.yaml`)
  writeFileSync(file, objects.map((each) => `---\n${JSON.stringify(each)}\n`).join(''))
  return file
}
