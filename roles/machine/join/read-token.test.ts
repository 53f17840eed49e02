import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { readTokenFrom } from './read-token.ts'

const token = 'abcdef.0123456789abcdef'

test('a token is the first line of standard input, in however many pieces', async () => {
  for (const pieces of [[token], [`${token}\n`], ['abcdef.0123', '456789abcdef\nrest']]) {
    assert.equal(await readTokenFrom(Readable.from(pieces)), token)
  }
})

test('an input without a token is refused, and is not repeated in the message', async () => {
  for (const text of ['', '\n', 'abcdef', 'password-of-somebody', 'x'.repeat(100_000)]) {
    await assert.rejects(readTokenFrom(Readable.from([text])), (error) => {
      assert.ok(error instanceof ExpectedError)
      assert.ok(text.trim() === '' || !error.message.includes(text.trim()))
      return true
    })
  }
})

test('an input without an end is read up to a bound', async () => {
  let pieces = 0
  async function* endless(): AsyncGenerator<string> {
    for (;;) {
      pieces += 1
      yield 'x'.repeat(1_000)
    }
  }
  await assert.rejects(readTokenFrom(endless()), ExpectedError)
  assert.ok(pieces < 10)
})
