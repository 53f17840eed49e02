import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { compareAnswers, formatDifference } from './compare.ts'
import { betaPrefix, readGolden, readScripts, startOurs } from './corpus.ts'
import { explanationOf, explanations, withoutObjects } from './explained-differences.ts'
import { runScript } from './run-script.ts'

type Ours = Awaited<ReturnType<typeof startOurs>>

const servers = new Map<boolean, Promise<Ours>>()
const used = new Set<string>()

after(async () => {
  for (const server of servers.values()) await (await server)[Symbol.asyncDispose]()
})

/** Returns one server for all scripts: each has its own namespace and leaves nothing outside of it. */
function oursFor(script: string): Promise<Ours> {
  const withBeta = script.startsWith(betaPrefix)
  const running = servers.get(withBeta) ?? startOurs(withBeta)
  servers.set(withBeta, running)
  return running
}

for (const script of readScripts()) {
  test(`${script.name}: ${script.exchanges.length} exchanges are answered as upstream answers them`, async () => {
    const golden = readGolden(script.name)
    assert.deepEqual(
      golden.map(({ name }) => name),
      script.exchanges.map(({ name }) => name),
      'the recording is of this script',
    )
    const answers = await runScript(script, await oursFor(script.name))
    const found = compareAnswers(script.name, golden, answers).filter((difference) => {
      const explanation = explanationOf(difference)
      if (explanation) used.add(explanation.name)
      return !explanation
    })
    assert.equal(found.map(formatDifference).join('\n'), '')
  })
}

test('each explained difference still exists', () => {
  const unused = explanations.filter(({ name }) => !used.has(name))
  assert.deepEqual(unused, [])
})

test('docs/differences.md shows the explained differences, and no others', () => {
  const document = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8')
  const rows = document.split('\n').filter((line) => line.startsWith('| '))
  assert.deepEqual(
    rows.slice(1),
    explanations.map(({ name, reason }) => `| ${name} | ${reason} |`),
  )
})

test('only the objects in a message may differ', () => {
  const table: readonly (readonly [string, string])[] = [
    ['plain', 'plain'],
    ['a: Invalid value: "x": no', 'a: Invalid value: "x": no'],
    ['a: Invalid value: {"b":"}","c":{}}: no, d: e', 'a: Invalid value: <object>: no, d: e'],
    [
      '[a: Invalid value: {}: no, b: Invalid value: {"c":1}: so]',
      '[a: Invalid value: <object>: no, b: Invalid value: <object>: so]',
    ],
    ['a: Invalid value: {"b": no', 'a: Invalid value: {"b": no'],
    ['a: no\n@@ -1 +1 @@\n- "B": 1\n+ "B": 2\n', 'a: no\n<compared>'],
    ['[a: no\n- b: 1\n+ b: 2\n, c: d]', '[a: no\n<compared>\n, c: d]'],
  ]
  for (const [message, rest] of table) assert.equal(withoutObjects(message), rest)
})
