import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExecMessage, resizeMessage, shellPath, stdinMessage } from './exec-frames.ts'

function framed(channel: number, text: string): ArrayBuffer {
  const bytes = new Uint8Array([channel, ...new TextEncoder().encode(text)])
  return bytes.buffer
}

test('input and sizes are sent on their channels', () => {
  assert.deepEqual([...stdinMessage('é')], [0, 0xc3, 0xa9])
  assert.equal(new TextDecoder().decode(resizeMessage(80, 24)), '\u0004{"Width":80,"Height":24}')
})

test('output is passed on as bytes, because a character may be split over messages', () => {
  const read = readExecMessage(new Uint8Array([1, 0xe4, 0xb8]).buffer)
  assert.deepEqual(read, { is: 'output', bytes: new Uint8Array([0xe4, 0xb8]) })
  assert.equal(readExecMessage(framed(0, 'x')), undefined)
})

test('the end of a shell has its exit code', () => {
  const table: readonly (readonly [text: string, code: number, message: string])[] = [
    ['{"status":"Success"}', 0, ''],
    [
      '{"status":"Failure","message":"command terminated","details":{"causes":[{"reason":"ExitCode","message":"137"}]}}',
      137,
      'command terminated',
    ],
    ['{"status":"Failure","message":"no such container"}', -1, 'no such container'],
    ['not json', -1, 'not json'],
  ]
  for (const [text, exitCode, message] of table) {
    assert.deepEqual(readExecMessage(framed(3, text)), { is: 'end', exitCode, message })
  }
})

test('a container’s name stays one value of the query', () => {
  const path = shellPath('/api/v1/namespaces/x/pods/p', 'a&command=rm')
  assert.equal(new URL(path, 'https://hub').searchParams.get('container'), 'a&command=rm')
})
