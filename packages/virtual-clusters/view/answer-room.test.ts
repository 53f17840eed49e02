import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { AnswerRoom } from './answer-room.ts'

const never = new AbortController().signal

function answer(...parts: string[]) {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield Buffer.from(part)
  }
  return { body: body() }
}

test('a few long answers are held at a time; small ones do not wait for them', async () => {
  const room = new AnswerRoom({ smallAnswerBytes: 4, longAnswersMax: 1, answerBytesMax: 100 })
  const first = Promise.withResolvers<void>()
  const done: string[] = []
  const long = (name: string, until: Promise<void>, signal = never): Promise<void> =>
    room.read(
      answer('["a', ` long ${name}"]`),
      async (content) => {
        await until
        done.push(String(content))
      },
      signal,
    )
  const stop = new AbortController()
  const one = long('one', first.promise)
  const gone = long('gone', Promise.resolve(), stop.signal)
  const two = long('two', Promise.resolve())
  stop.abort(new Error('its reader went away'))
  await assert.rejects(gone, /its reader went away/)
  assert.equal(await room.read(answer('[1]'), async (content) => String(content), never), '1')
  assert.deepEqual(done, [])
  first.resolve()
  await Promise.all([one, two])
  assert.deepEqual(done, ['a long one', 'a long two'])
  await long('three', Promise.resolve())
})

test('an answer that is too long is refused, and leaves its place', async () => {
  const room = new AnswerRoom({ smallAnswerBytes: 4, longAnswersMax: 1, answerBytesMax: 10 })
  for (let time = 0; time < 2; time += 1) {
    await assert.rejects(
      room.read(answer('["aaaaa', 'aaaaaaaaaa"]'), async () => 0, never),
      (error) => isStatusError(error, 'RequestEntityTooLarge') && /in pages/.test(error.message),
    )
  }
})

test('an answer that is not JSON counts as nothing', async () => {
  const room = new AnswerRoom()
  const content = await room.read(answer('<html>'), async (told) => told, never)
  assert.equal(content, undefined)
})
