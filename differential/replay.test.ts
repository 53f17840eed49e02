import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatDifference } from './compare.ts'
import { explanations } from './explained-differences.ts'
import { readGolden, readOpen, readScripts, runOurs, unexplained } from './corpus.ts'

const open = readOpen()

for (const script of readScripts()) {
  test(`${script.name}: ${script.exchanges.length} exchanges are answered as upstream answers them`, async () => {
    const golden = readGolden(script.name)
    assert.deepEqual(
      golden.map(({ name }) => name),
      script.exchanges.map(({ name }) => name),
      'the recording is of this script',
    )
    const found = unexplained(script, golden, await runOurs(script)).filter(
      ({ exchange }) => !open.has(`${script.name}: ${exchange}`),
    )
    assert.equal(found.map(formatDifference).join('\n'), '')
  })
}

test('docs/differences.md shows the differences that are explained, and no others', () => {
  const document = readFileSync(new URL('../docs/differences.md', import.meta.url), 'utf8')
  const rows = document.split('\n').filter((line) => line.startsWith('| '))
  assert.deepEqual(
    rows.slice(1),
    explanations.map(({ name, reason }) => `| ${name} | ${reason} |`),
  )
})
