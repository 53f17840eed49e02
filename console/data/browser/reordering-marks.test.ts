import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFrame } from '../streams/stream-frames.ts'
import { writeYaml } from '../objects/yaml-writer.ts'
import { showReorderingInJson } from './reordering-marks.ts'

const spoof = 'invoice\u202egnp.exe'

test('a text of others that turns letters around is seen to do so, in lists and in YAML', () => {
  const frame = readFrame(JSON.stringify({ id: 1, message: spoof }))
  assert.equal(frame?.message, 'invoice\ufffdgnp.exe')
  assert.equal(writeYaml({ name: spoof }), 'name: "invoice\\u202egnp.exe"\n')
  assert.equal(writeYaml({ text: `a\n${spoof}\n` }), 'text: "a\\ninvoice\\u202egnp.exe\\n"\n')
})

test('marks that turn letters around are found in JSON also as escapes, and nothing else is', () => {
  const texts = [spoof, '\\u202e', '\\\\u202e', 'a"\n\t\u2028\u20ac', `${spoof}\\`]
  for (const text of texts) {
    const shown = text.replaceAll('\u202e', '\ufffd')
    const json = JSON.stringify({ [text]: text })
    assert.deepEqual(JSON.parse(showReorderingInJson(json)), { [shown]: shown })
    const escaped = json.replaceAll('\u202e', '\\u202E').replaceAll('\u2028', '\\u2028')
    assert.deepEqual(JSON.parse(showReorderingInJson(escaped)), { [shown]: shown })
  }
})
