import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFrame } from '../streams/stream-frames.ts'
import { writeYaml } from '../objects/yaml-writer.ts'

const spoof = 'invoice\u202egnp.exe'

test('a text of others that turns letters around is seen to do so, in lists and in YAML', () => {
  const frame = readFrame(JSON.stringify({ id: 1, message: spoof }))
  assert.equal(frame?.message, 'invoice\ufffdgnp.exe')
  assert.equal(writeYaml({ name: spoof }), 'name: "invoice\\u202egnp.exe"\n')
  assert.equal(writeYaml({ text: `a\n${spoof}\n` }), 'text: "a\\ninvoice\\u202egnp.exe\\n"\n')
})
