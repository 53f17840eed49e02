import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { isInRange, keyRange, type KeyRange } from '../engine/key-range.ts'
import { hasOverlap, type TxnPart } from './txn-overlaps.ts'

const range = (from: string, until = ''): KeyRange =>
  keyRange(Buffer.from(from), Buffer.from(until))

function part(puts: readonly string[], ...deletes: readonly KeyRange[]): TxnPart {
  return { puts: new Set(puts), deletes }
}

const cases: readonly (readonly [string, readonly TxnPart[], boolean])[] = [
  ['a key that another part deletes', [part(['b']), part([], range('b'))], true],
  ['the first key of a range', [part(['b']), part([], range('b', 'd'))], true],
  ['the end of a range', [part(['d']), part([], range('b', 'd'))], false],
  ['a key after a range of one key', [part(['b0']), part([], range('b'))], false],
  ['a key within two ranges', [part(['c']), part([], range('a', 'e'), range('b', 'd'))], true],
  ['a key that its own part deletes', [part(['b'], range('a', 'c')), part(['d'])], false],
  [
    'a key that its own part and another delete',
    [part(['b'], range('b')), part([], range('b'))],
    true,
  ],
  ['a range that ends before it begins', [part(['b']), part([], range('c', 'a'))], false],
]

for (const [what, parts, expected] of cases) {
  test(`${what} ${expected ? 'is' : 'is not'} changed twice`, () => {
    assert.equal(hasOverlap(parts), expected)
    assert.equal(hasOverlap(parts.toReversed()), expected)
  })
}

test('random parts are judged as by looking at each pair of them (seed 5)', () => {
  const random = seededRandom(5)
  const letter = (): string => 'abcdefgh'.charAt(Math.floor(random.next() * 8))
  const some = <T>(make: () => T): T[] => Array.from({ length: random.next() * 3 }, make)
  let found = 0
  for (let turn = 0; turn < 2_000; turn += 1) {
    const parts = Array.from({ length: 3 }, () => {
      const puts = some(letter)
      return part(puts, ...some(() => range(letter(), random.next() < 0.3 ? '' : letter())))
    })
    const expected = parts.some(({ puts }, at) =>
      parts.some(
        ({ deletes }, other) =>
          other !== at &&
          deletes.some((each) => [...puts].some((key) => isInRange(Buffer.from(key), each))),
      ),
    )
    assert.equal(hasOverlap(parts), expected)
    if (expected) found += 1
  }
  assert.ok(found > 200 && found < 1_800, String(found))
})
