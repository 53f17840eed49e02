/**
 * Records what `karmadactl interpret` answers, for the test that replays it:
 *   node dev/hack/karmada-customizations.ts
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
import { thirdpartyCases } from '../differential/customizations/thirdparty-cases.ts'
import { defaultKarmadaCache, karmadaSource } from './upstream/karmada-build.ts'

const karmadactl = join(defaultKarmadaCache, 'bin', 'karmadactl')
const directory = mkdtempSync(join(tmpdir(), 'skerry-customizations-'))
/** The directory of Karmada's own rules for kinds of others. The rules are read there and not copied. */
const bundled = join(
  karmadaSource(),
  'pkg/resourceinterpreter/default/thirdparty/resourcecustomizations',
)

try {
  record(
    'answers',
    customizationCases.map((each) => [
      each.name,
      answerTo(each, fileOf('customization', customizationOf(each))),
    ]),
  )
  record(
    'thirdparty-answers',
    thirdpartyCases.map((each) => {
      const { apiVersion, kind } = each.object
      return [each.name, answerTo(each, join(bundled, apiVersion, kind, 'customizations.yaml'))]
    }),
  )
} finally {
  rmSync(directory, { recursive: true })
}

/** Writes one answer a line, so that a diff shows each change. */
function record(topic: string, answers: readonly (readonly [name: string, answer: unknown])[]) {
  const lines = answers.map(
    ([name, answer]) => `${JSON.stringify(name)}: ${JSON.stringify(answer)}`,
  )
  const file = `../differential/customizations/testdata/${topic}.json`
  writeFileSync(join(import.meta.dirname, file), `{\n${lines.join(',\n')}\n}\n`)
  console.log(`${topic}: ${new Set(answers.map(([name]) => name)).size}`)
}

type Asked = Pick<CustomizationCase, 'operation' | 'object' | 'observed' | 'replicas' | 'items'>

/** Returns the results in their order, or that there is an error. */
function answerTo(asked: Asked, customization: string): { results: unknown[] } | { error: string } {
  const { operation, object, observed, replicas, items } = asked
  const args = [
    'interpret',
    `--filename=${customization}`,
    `--operation=${operation}`,
    `--desired-file=${fileOf('desired', object)}`,
    ...(observed ? [`--observed-file=${fileOf('observed', observed)}`] : []),
    ...(replicas === undefined ? [] : [`--desired-replica=${replicas}`]),
    ...(items ? [`--status-file=${fileOf('items', ...items)}`] : []),
  ]
  const { stdout, stderr } = spawnSync(karmadactl, args, { encoding: 'utf8' })
  // The output may also contain lines of a log.
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
