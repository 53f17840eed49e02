import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CelCostError,
  bindingLibrary,
  createEnvironment,
  celTypes,
  listType,
  patternOf,
  regexLibrary,
  stringLibrary,
  twoVariableLibrary,
} from './mod.ts'

const environment = createEnvironment({
  variables: { l: listType(celTypes.int), s: celTypes.string },
  libraries: [bindingLibrary, regexLibrary, stringLibrary, twoVariableLibrary],
})
const bindings = { l: Array.from({ length: 1_000 }, (_, at) => BigInt(at)), s: 'a'.repeat(1_000) }

const doubled = Array.from({ length: 40 }, (_, at) => `cel.bind(s${at + 1}, s${at} + s${at}, `)
const endless: Readonly<Record<string, string>> = {
  'loops in loops': 'l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d >= 0))))',
  'lists of lists': 'l.map(a, l.map(b, l.map(c, a + b + c))).size() > 0',
  'text that doubles': `cel.bind(s0, s, ${doubled.join('')}s40.size() > 0${')'.repeat(41)}`,
  'text that replaces itself': 's.replace("a", s).replace("a", s).replace("a", s).size() > 0',
}

for (const [name, text] of Object.entries(endless)) {
  test(`an expression of ${name} ends by its cost`, () => {
    const program = environment.compile(text)
    assert.throws(() => program.evaluate(bindings, { costLimit: 100_000 }), CelCostError)
  })
}

test('patterns that backtrack forever elsewhere are answered here', () => {
  const text = `${'a'.repeat(20_000)}!`
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$', '^(([a-z])+.)+[A-Z]$', '(x+x+)+y']) {
    assert.equal(patternOf(pattern).matcher(text).find(), false, pattern)
  }
})
