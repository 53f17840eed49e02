import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeSystems } from '@skerry/edge-apps'
import { edgeAppsOption } from './agent-flags.ts'

test('--edge-apps takes exactly the systems that can be served, and its help lists them', () => {
  const { description, parseArg } = edgeAppsOption()
  const systems = Object.keys(edgeSystems)
  assert.ok(description.endsWith(`: ${systems.join(', ')}`), description)
  assert.deepEqual(parseArg?.(systems.join(','), undefined), systems)
  for (const wrong of ['', `${systems[0]},toString`, 'nosuch']) {
    assert.throws(() => parseArg?.(wrong, undefined), /give one or more of/)
  }
})
