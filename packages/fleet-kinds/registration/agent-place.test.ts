import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeArguments, placeCauses, type AgentPlace } from './agent-place.ts'

test('facts about a place become options of the agent, each once', () => {
  const labels = { link: 'lte', 'example.com/tier': '' }
  const place = { provider: 'acme', region: 'north', zones: ['a', 'b'], labels }
  assert.deepEqual(placeArguments(place), [
    '--provider=acme',
    '--region=north',
    '--zone=a',
    '--zone=b',
    '--label=link=lte',
    '--label=example.com/tier=',
  ])
  assert.deepEqual(placeArguments({}), [])
  assert.deepEqual(placeCauses(place), [])
})

const refused: readonly [what: string, place: AgentPlace, field: string][] = [
  ['an empty provider', { provider: '' }, 'spec.provider'],
  ['a region of two lines', { region: 'north\nwest' }, 'spec.region'],
  ['a zone of 129 characters', { zones: ['a', 'z'.repeat(129)] }, 'spec.zones[1]'],
  ['33 zones', { zones: Array.from({ length: 33 }, () => 'a') }, 'spec.zones'],
  ['a label that no object may have', { labels: { 'no key': 'a' } }, 'spec.labels'],
  ['a value that no label may have', { labels: { key: 'a b' } }, 'spec.labels'],
  ['a label of the hub’s operator', { labels: { 'hub.skerry.io/wave': '1' } }, 'spec.labels'],
]
for (const [what, place, field] of refused) {
  test(`a place is refused before anything is printed: ${what}`, () => {
    assert.equal(placeCauses(place)[0]?.field, field)
  })
}
