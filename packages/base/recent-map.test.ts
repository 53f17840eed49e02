import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentMap } from './recent-map.ts'

const stories: { does: string; act: (map: RecentMap<string, number>) => void; keeps: string }[] = [
  { does: 'drops the entry that was set first', act: (map) => map.set('d', 4), keeps: 'bcd' },
  { does: 'drops nothing for a key that it has', act: (map) => map.set('a', 5), keeps: 'bca' },
  {
    does: 'keeps an entry that was set again',
    act(map) {
      map.set('a', 5)
      map.set('d', 4)
    },
    keeps: 'cad',
  },
  {
    does: 'keeps an entry that was used',
    act(map) {
      assert.equal(map.use('a'), 1)
      map.set('d', 4)
    },
    keeps: 'cad',
  },
  {
    does: 'drops an entry that was only looked at',
    act(map) {
      assert.equal(map.get('a'), 1)
      map.set('d', 4)
    },
    keeps: 'bcd',
  },
  {
    does: 'makes no entry for an unknown key',
    act: (map) => assert.equal(map.use('z'), undefined),
    keeps: 'abc',
  },
  {
    does: 'has room again after a delete',
    act(map) {
      assert.equal(map.delete('b'), true)
      map.set('d', 4)
    },
    keeps: 'acd',
  },
]

for (const { does, act, keeps } of stories) {
  test(`a full map ${does}`, () => {
    const map = new RecentMap<string, number>(3)
    for (const [place, key] of ['a', 'b', 'c'].entries()) map.set(key, place + 1)
    act(map)
    assert.equal([...map].map(([key]) => key).join(''), keeps)
    assert.equal(map.size, keeps.length)
  })
}

test('the owner of a dropped value can close it', () => {
  const dropped: number[] = []
  const map = new RecentMap<string, number>(1, (value) => dropped.push(value))
  map.set('a', 1)
  map.set('a', 2)
  map.set('b', 3)
  map.delete('b')
  assert.deepEqual(dropped, [2])
})

test('a map without room is a mistake', () => {
  assert.throws(() => new RecentMap(0), RangeError)
})
