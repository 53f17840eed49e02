import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { explanationOf, explanations, type Both } from './explained-differences.ts'
import { startAskingServer, replayTarget } from './ours.ts'
import { playEffects } from './play-effects.ts'
import { readEffects, readTargets } from './recording.ts'

/** A failure shows this many differences, and counts all. */
const shownMax = 20

const ours = await startAskingServer()
const used = new Set<string>()
after(() => ours[Symbol.asyncDispose]())

test('authorizers are asked the questions that upstream asks about the same request', async () => {
  const all: Both[] = []
  for (const [at, upstream] of readTargets().entries()) {
    const replayed = await replayTarget(ours, upstream, `u${at}-deny-0`)
    all.push({ request: `${upstream.method} ${upstream.target}`, upstream, ours: replayed })
  }
  assertSame(all)
})

test('a request that does two things needs the right to both, as in upstream', async () => {
  const recorded = readEffects()
  const played = await playEffects(ours)
  const all = recorded.flatMap(({ name, runs }, at) => {
    const here = played[at]
    assert.equal(here?.name, name, 'the recording is of this table')
    const names = new Set([...Object.keys(runs), ...Object.keys(here.runs)])
    return [...names].map((run) => ({
      request: `${name}, ${run}`,
      upstream: runs[run] ?? notPlayed,
      ours: here.runs[run] ?? notPlayed,
    }))
  })
  assertSame(all)
})

test('each explained difference still exists', () => {
  const unused = explanations.filter(({ name }) => !used.has(name))
  assert.deepEqual(unused, [])
})

test('README.md shows the explained differences, and no others', () => {
  const document = readFileSync(new URL('README.md', import.meta.url), 'utf8')
  const [, shown = ''] = document.split('## Differences that stay')
  const rows = shown.split('\n').filter((line) => line.startsWith('| '))
  assert.deepEqual(
    rows.slice(1),
    explanations.map(({ name, reason }) => `| ${name} | ${reason} |`),
  )
})

const notPlayed = { status: 0, questions: [] }

function assertSame(all: readonly Both[]): void {
  const differences = all.filter((both) => {
    if (show(both.upstream) === show(both.ours)) return false
    const explanation = explanationOf(both)
    if (explanation) used.add(explanation.name)
    return !explanation
  })
  const shown = differences
    .slice(0, shownMax)
    .map(
      (both) => `${both.request}\n  upstream ${show(both.upstream)}\n  ours     ${show(both.ours)}`,
    )
  assert.equal(shown.join('\n'), '', `${differences.length} of ${all.length} differ`)
}

function show({ status, questions }: Both['ours']): string {
  return [status, ...questions.map((each) => JSON.stringify(each))].join(' ')
}
