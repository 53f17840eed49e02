import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deadAmong } from './verdict.ts'
import { parseAnswer, parseWord, type Word } from './word.ts'
import { createRing } from './ring.ts'

const word = (seen: string, missed = ''): Word => ({
  seen: seen.split(' ').filter(Boolean),
  missed: missed.split(' ').filter(Boolean),
})

interface Row {
  readonly name: string
  readonly group: string
  readonly words: Readonly<Record<string, Word>>
  /** Those that were dead before. */
  readonly was?: string
  readonly expected: 'seen' | 'dead' | 'open'
}

/** All rows are about the node `x`. */
const rows: readonly Row[] = [
  { name: 'nobody has said a word', group: 'x a b', words: {}, expected: 'open' },
  { name: 'it votes for itself', group: 'x a b', words: { x: word('x a') }, expected: 'open' },
  {
    name: 'the only neighbour sees it',
    group: 'x a',
    words: { a: word('x') },
    expected: 'seen',
  },
  {
    name: 'the only neighbour misses it',
    group: 'x a',
    words: { a: word('', 'x') },
    expected: 'open',
  },
  {
    name: 'both neighbours miss it',
    group: 'x a b',
    words: { a: word('b', 'x'), b: word('a', 'x') },
    expected: 'dead',
  },
  {
    name: 'one of two neighbours misses it',
    group: 'x a b',
    words: { a: word('b', 'x'), b: word('a x') },
    expected: 'open',
  },
  {
    name: 'one misses it and the other is silent',
    group: 'x a b',
    words: { a: word('b', 'x') },
    expected: 'open',
  },
  {
    name: 'one misses it and the other is dead',
    group: 'x a b',
    words: { a: word('c', 'x b') },
    was: 'b',
    expected: 'open',
  },
  {
    name: 'half of four miss it, the others are silent',
    group: 'x a b c d',
    words: { a: word('b', 'x'), b: word('a', 'x') },
    expected: 'open',
  },
  {
    name: 'three of four miss it',
    group: 'x a b c d',
    words: { a: word('b', 'x'), b: word('a', 'x'), c: word('a', 'x'), d: word('x') },
    expected: 'dead',
  },
  {
    name: 'two miss it, and both others died before',
    group: 'x a b c d',
    words: { a: word('b', 'x c d'), b: word('a', 'x c d') },
    was: 'c d',
    expected: 'dead',
  },
  {
    name: 'those that miss it see nobody, and are cut off themselves',
    group: 'x a b c',
    words: { a: word('', 'x b c'), b: word('', 'x a c'), c: word('x') },
    expected: 'seen',
  },
  {
    name: 'it was dead, and nobody says a word any more',
    group: 'x a b',
    words: {},
    was: 'x',
    expected: 'dead',
  },
  {
    name: 'it was dead, and is seen again',
    group: 'x a b',
    words: { a: word('x b'), b: word('a x') },
    was: 'x',
    expected: 'seen',
  },
  {
    name: 'a node says both of it',
    group: 'x a b c',
    words: { a: word('x b', 'x'), b: word('a x', 'x'), c: word('a', 'x') },
    expected: 'seen',
  },
]

for (const { name, group, words, was = '', expected } of rows) {
  test(`a node is ${expected} if ${name}`, () => {
    const names = group.split(' ')
    const ring = createRing(names)
    const verdicts = deadAmong(names, new Set(was.split(' ')), (each, isDead) => ({
      voters: ring.votersOn(each),
      wordOf: (voter) => words[voter],
      isDead,
    }))
    assert.equal(verdicts.get('x')?.kind, expected)
  })
}

for (const count of [1, 2, 3, 9, 10, 300]) {
  test(`in a group of ${count} each node asks at most eight others, which are those that it votes about`, () => {
    const names = Array.from({ length: count }, (_, index) => `n${index}`)
    const ring = createRing(names)
    const others = createRing(names.toReversed())
    for (const name of names) {
      const asked = ring.askedBy(name)
      assert.equal(new Set(asked).size, Math.min(8, count - 1))
      assert.ok(!asked.includes(name))
      assert.deepEqual(others.askedBy(name), asked, 'the order of the list does not matter')
      for (const each of asked) assert.ok(ring.votersOn(each).includes(name))
      assert.equal(ring.votersOn(name).length, asked.length)
    }
  })
}

test('a text that is not a word, or too long, is left out', () => {
  const many = JSON.stringify(Array.from({ length: 33 }, (_, index) => `n${index}`))
  for (const text of [
    undefined,
    '',
    '{',
    'null',
    '[]',
    '{"seen":[]}',
    '{"seen":[1],"missed":[]}',
    `{"seen":${many},"missed":[]}`,
    `{"seen":[],"missed":[],"x":"${'x'.repeat(20_000)}"}`,
  ]) {
    assert.equal(parseWord(text), undefined, String(text))
    assert.equal(parseAnswer(text ?? ''), undefined, String(text))
  }
  assert.deepEqual(parseWord('{"seen":["a"],"missed":["b"]}'), word('a', 'b'))
  assert.equal(parseAnswer('{"seen":["a"],"missed":["b"]}'), undefined)
})
