import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceTexts } from './source-texts.ts'

const rows: readonly (readonly [name: string, source: string, texts: readonly string[]])[] = [
  ['both quotes, with escapes', String.raw`f('a \'b\'', "c")`, [String.raw`a \'b\'`, 'c']],
  ['a quote in a comment', `// don't\nf('a') /* it's */`, ['a']],
  ['a quote in a regular expression', String.raw`f(/['"\/]/.test(x), 'a')`, ['a']],
  ['a division', `f(a / b, 'c' / d)`, ['c']],
  ['a template and the texts inside of it', "f(`a ${g({ b: 'c' })} d`)", ['c', 'a … d']],
  ['a template in a template', 'f(`a ${`b ${c}`}`)', ['b …', 'a …']],
]
for (const [name, source, texts] of rows) {
  test(`the literals of a source are found: ${name}`, () => {
    const found = sourceTexts(source)
    assert.deepEqual(
      found.map(({ text }) => text),
      texts,
    )
    for (const { at, end } of found) assert.match(source.slice(at, end), /^(['"`])[^]*\1$/)
  })
}
